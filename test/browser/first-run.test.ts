/** The first run: from an empty gateway to the first call, with the console only. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { noBrowser, openPage } from "../support/browser-page.ts";
import { PASSWORD } from "../support/people.ts";
import { teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

describe.skipIf(noBrowser)("first run", () => {
  test("the console leads from the setup link to servers, endpoint, key, client config and first call", async () => {
    const gateway = await teamGateway(temp(), { env: { METAMCP_ADMIN_TOKEN: "" } });
    const link = await until(() => /http\S+\/setup\?code=\S+/.exec(gateway.stderr)?.[0], {
      what: "the link",
    });
    const page = await openPage(link);
    await page.getByLabel("Your e-mail address").fill("ada@example.org");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();

    await page.getByRole("heading", { name: "Connect your first client" }).waitFor();
    const paste = page.getByLabel("Config of a client, an address, or a command");
    await paste.fill("{ nonsense");
    await page.getByText(/^Line 1 is not valid JSON/).waitFor();
    const servers = { fix: fixture(), broken: { command: "there-is-no-such-command" } };
    await paste.fill(JSON.stringify({ mcpServers: servers }));
    await page.getByText("2 servers found").waitFor();
    await page.getByRole("button", { name: "Add 2 servers" }).click();
    // Each server is connected at once and shows why it fails.
    await page.getByText(/connected, \d+ tools/).waitFor();
    await page.getByText("failed", { exact: true }).first().waitFor();
    const states = page.locator(".found .status");
    const begins = await states.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
    expect(begins).toEqual([begins[0], begins[0]]);
    await page.getByRole("button", { name: "Continue" }).click();

    await page.getByText(`${gateway.url}/metamcp/default/mcp`).waitFor();
    await page.getByRole("button", { name: "Create a key" }).click();
    // After a reload one goes on with the key that one has.
    await page.getByRole("button", { name: "Copy command" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Go on with that key" }).click();
    await page.getByText("Waiting for your client").waitFor();
    await page.getByText("Replace KEY with one of your keys.").waitFor();
    await page.getByRole("button", { name: "Create another key" }).click();
    await page.getByRole("button", { name: "Copy command" }).waitFor();
    const [command = "", lines = ""] = await page.locator(".client-config pre").allTextContents();
    expect(command).toMatch(
      /^claude mcp add --transport http --scope user metamcp .*--header "X-API-Key: mmcp_/,
    );
    const config = JSON.parse(lines);
    const { url, headers } = config.mcpServers.metamcp as { url: string; headers: Record<string, string> };
    expect(url).toBe(`${gateway.url}/metamcp/default/mcp`);
    await page.getByText("Waiting for your client").waitFor();

    const client = new Client({ name: "pasted", version: "1.0.0" });
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    await client.connect(transport as never);
    onTestFinished(() => client.close());
    await page.getByText("pasted is connected.").waitFor();
    const result = await client.callTool({
      name: "mcp_call",
      arguments: { server: "fix", tool: "add", args: { a: 20, b: 22 } },
    });
    expect(JSON.stringify(result)).toContain("42");
    await page.getByText(/pasted called fix:add in .*It works\./).waitFor();

    await page.getByRole("button", { name: "Go to the overview" }).click();
    await page.getByText("1 of 2 servers needs attention:").waitFor();
    const endpoint = page.getByRole("grid", { name: "Endpoints" }).getByRole("row", { name: "default" });
    await endpoint.getByText("keys, OAuth").waitFor();
    // The call is counted at the endpoint and listed at the server.
    const calls = endpoint.locator("td").last();
    await until(async () => Number(await calls.textContent()) > 0, { what: "the call" });
    await page.getByRole("navigation").getByRole("link", { name: "Servers" }).click();
    await page.getByRole("grid", { name: "Servers" }).getByText("fix", { exact: true }).click();
    await page.getByRole("tab", { name: "Calls" }).click();
    await page
      .getByRole("grid", { name: "Last calls of this server" })
      .getByText("add", { exact: true })
      .waitFor();
    expect(page.url()).toMatch(/\/servers\/[0-9a-f-]{36}\?tab=calls$/);
    // A reload shows the same tab, because its state is in the address.
    await page.reload();
    await page
      .getByRole("grid", { name: "Last calls of this server" })
      .getByText("add", { exact: true })
      .waitFor();
  });
});

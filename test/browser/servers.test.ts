/** The page Servers: adding, changing, watching and deleting servers, by role. */
import { describe, expect, onTestFinished, test } from "vitest";
import { expectAccessibleInBothThemes } from "../support/axe.ts";
import { allowError, noBrowser } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { fakeNpx } from "../support/registry.ts";
import { shared } from "../support/shared.ts";
import { type TeamGateway, teamClient, teamGateway } from "../support/team-gateway.ts";
import { teamProcess } from "../support/team-process.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";
import { userLoginTeam } from "../support/user-login-team.ts";

const SERVERS = { fix: fixture(), other: fixture() };

/** A gateway with two servers and an endpoint that lists all their tools. */
async function team(): Promise<TeamGateway> {
  const gateway = await teamGateway(temp());
  const { api } = gateway;
  await api("POST", "/mcp-servers/import", { mcpServers: SERVERS });
  await api("POST", "/namespaces", { name: "dev", servers: [{ server: "fix" }, { server: "other" }] });
  await api("POST", "/endpoints", { name: "dev", namespaces: ["dev"], surface: "aggregate" });
  return gateway;
}

const uuidOf = async ({ api }: TeamGateway, name: string): Promise<string> =>
  (await api("GET", `/mcp-servers/${name}`)).body.uuid;

describe.skipIf(noBrowser)("servers", () => {
  // For tests that leave two servers in working order.
  const opened = shared(async () => {
    const gateway = await team();
    return { gateway, page: await openConsole(gateway), uuid: await uuidOf(gateway, "fix") };
  });

  test("a change shows its steps, and connected clients are notified", async () => {
    const { gateway, page, uuid } = opened();
    const client = await teamClient(gateway, "dev", { key: await gateway.key() });
    expect(await client.tools()).toContain("fix__add");
    await page.goto(`${gateway.url}/servers/${uuid}?tab=settings`);
    await page.getByLabel("Arguments").fill([...fixture().args, "--tools", "2"].join("\n"));
    await page.getByRole("button", { name: "Save" }).click();
    for (const step of [
      /Stored as revision \d+/,
      /Old connection closed \(pid \d+\)/,
      /New process started \(pid \d+\)/,
      /Handshake, \d+ tools/,
      "Namespace dev rebuilt",
      "1 client notified",
      "Server updated successfully",
    ])
      await page.getByText(step).waitFor();
    // The shape stands at the middle of the word.
    const off = await page.locator(".flow-step").evaluateAll((steps) =>
      steps.map((step) => {
        const [shape, word] = [...step.children].map((one) => one.getBoundingClientRect());
        return shape && word ? Math.abs(shape.top + shape.bottom - word.top - word.bottom) / 2 : 9;
      }),
    );
    expect(Math.max(...off)).toBeLessThan(1);
    await until(() => client.listChanges > 0, { what: "list_changed" });
    await page.getByRole("button", { name: "Back to the settings" }).click();
    await page.getByText("No changes.").waitFor();
  });

  test("a failed change shows the reason and can be rolled back", async () => {
    const { gateway, page, uuid } = opened();
    await page.goto(`${gateway.url}/servers/${uuid}?tab=settings`);
    await page.getByLabel("Command").fill("there-is-no-such-command");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(/Not connected: .*there-is-no-such-command/).waitFor();
    await page.getByText("The change is stored, but the server cannot be reached.").waitFor();
    await page.getByRole("button", { name: "Roll back" }).click();
    await page.getByText("fix is restored.").waitFor();
    await until(async () => (await page.getByLabel("Command").inputValue()) === process.execPath, {
      what: "the old command",
    });
  });

  test("changes of another administrator stay, and a conflicting one is reported with both values", async () => {
    const { gateway, uuid } = opened();
    const page = await openConsole(gateway, { path: `/servers/${uuid}?tab=settings` });
    const save = page.getByRole("button", { name: "Save" });
    await page.getByLabel("Description").fill("mine");
    await gateway.api("PATCH", `/mcp-servers/${uuid}`, { labels: ["theirs"] });
    await page.getByText("More settings").click();
    await until(async () => (await page.getByLabel("Labels").inputValue()) === "theirs", { what: "labels" });
    await save.click();
    await page.getByText("Server updated successfully").waitFor();
    const { body } = await gateway.api("GET", `/mcp-servers/${uuid}`);
    expect(body).toMatchObject({ description: "mine", labels: ["theirs"] });

    await page.getByRole("button", { name: "Back to the settings" }).click();
    await page.getByLabel("Description").fill("mine too");
    await gateway.api("PATCH", `/mcp-servers/${uuid}`, { description: "theirs" });
    const conflict = page.getByRole("alert").filter({ hasText: "admin token changed this" });
    for (const text of ["description", "theirs", "mine too"])
      await conflict.getByText(text, { exact: false }).first().waitFor();
    expect(await save.isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Keep mine" }).click();
    await save.click();
    await page.getByText("Server updated successfully").waitFor();
    expect((await gateway.api("GET", `/mcp-servers/${uuid}`)).body.description).toBe("mine too");
  });

  test("a change that another one overtakes is refused, and can be saved again", async () => {
    const { gateway, uuid } = opened();
    const page = await openConsole(gateway, { path: `/servers/${uuid}?tab=settings` });
    await page.getByLabel("Description").fill("mine again");
    allowError(page, /412/);
    let overtaken = false;
    await page.route(`**/mcp-servers/${uuid}`, async (route) => {
      if (route.request().method() === "PATCH" && !overtaken) {
        overtaken = true;
        await gateway.api("PATCH", `/mcp-servers/${uuid}`, { labels: ["newer"] });
      }
      await route.continue();
    });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").filter({ hasText: "changed" }).waitFor();
    await page.getByText("More settings").click();
    await until(async () => (await page.getByLabel("Labels").inputValue()) === "newer", { what: "labels" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Server updated successfully").waitFor();
    const { body } = await gateway.api("GET", `/mcp-servers/${uuid}`);
    expect(body).toMatchObject({ description: "mine again", labels: ["newer"] });
  });

  test("every setting of the form is stored, and an invalid one shows its error beside it", async () => {
    const { gateway } = opened();
    const { uuid } = (await gateway.api("POST", "/mcp-servers", { name: "tuned", ...fixture() })).body;
    onTestFinished(async () => void (await gateway.api("DELETE", `/mcp-servers/${uuid}`)));
    const page = await openConsole(gateway, { path: `/servers/${uuid}?tab=settings` });
    await page.getByText("More settings").click();
    await page.getByLabel("Processes").fill("2");
    await page.getByLabel("When does it run?").selectOption("keep-alive");
    await page.getByLabel("How important is it?").selectOption("vital");
    await page.getByLabel(/^Time for one call/).fill("soon");
    await page.getByLabel("Ask before each call of these tools").fill("write_*, delete_*");
    await page.getByLabel("Which calls are sent again?").selectOption("never");
    allowError(page, /422/);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("must be whole milliseconds", { exact: false }).waitFor();
    await page.getByLabel(/^Time for one call/).fill("45s");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Server updated successfully").waitFor();
    expect((await gateway.api("GET", `/mcp-servers/${uuid}`)).body).toMatchObject({
      instances: 2,
      lifecycle: "keep-alive",
      criticality: "vital",
      timeoutMs: "45s",
      tools: { ask: ["write_*", "delete_*"] },
      retry: "never",
    });
  });

  test("a server is added with the form, and its secret is never shown again", async () => {
    const gateway = await team();
    const page = await openConsole(gateway, { path: "/servers" });
    await page.getByRole("button", { name: "Add server" }).click();
    await page.getByRole("tab", { name: "Form" }).click();
    await page.getByLabel("Name").fill("third");
    await page.getByLabel("Command").fill(process.execPath);
    await page.getByLabel("Arguments").fill([...fixture().args, "--token=abcdef123456"].join("\n"));
    await page.getByText("looks like a secret", { exact: false }).waitFor();
    await page.getByLabel("Arguments").fill(fixture().args.join("\n"));
    await page.getByRole("group", { name: "Environment" }).getByRole("button", { name: "Add" }).click();
    await page.getByPlaceholder("Name").fill("TOKEN");
    await page.getByPlaceholder("Value").fill("s3cret-canary");
    await page.getByRole("dialog").getByRole("button", { name: "Add server" }).click();
    await page.getByText(/connected, \d+ tools/).waitFor();
    await page.getByRole("link", { name: "third" }).click();
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByPlaceholder("Stored. Type to replace it.").waitFor();
    expect(await page.content()).not.toContain("s3cret-canary");
    const { body } = await gateway.api("GET", "/namespaces/dev");
    expect(body.servers).toHaveLength(3);
  });

  test("the gallery shows the command before a server is added, and keeps its rows while a search runs", async () => {
    const { gateway, page } = opened();
    await page.goto(`${gateway.url}/servers?add=find`);
    const row = page.getByRole("button", { name: "Choose github", exact: true });
    await row.waitFor();
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/registry\?q=github/, async (route) => {
      await released;
      await route.continue();
    });
    onTestFinished(() => page.unroute(/registry\?q=github/));
    const searched = page.waitForRequest(/registry\?q=github/);
    await page.getByLabel("What do you need?").fill("github");
    await searched;
    await row.click();
    release();
    await page.getByText("Runs").or(page.getByText("Its address")).waitFor();
    await expectAccessibleInBothThemes(page);
  });

  test("a server from the gallery is added, and a client calls its tool", async () => {
    const folder = temp();
    // A fake npx, so that nothing is downloaded.
    const gateway = await teamProcess(folder, { env: { PATH: fakeNpx(folder, []) } });
    const page = await openConsole(gateway, { path: "/servers?add=find" });
    await page.getByLabel("What do you need?").fill("memory knowledge graph");
    await page.getByRole("button", { name: "Choose memory", exact: true }).click();
    await page.getByText("npx -y @modelcontextprotocol/server-memory", { exact: false }).waitFor();
    await page
      .getByLabel("Who sees the tools?")
      .selectOption({ label: "Clients of a new endpoint “default”" });
    await page.getByRole("dialog").getByRole("button", { name: "Add server" }).click();
    await page.getByText(/connected, \d+ tools/).waitFor();
    const client = await teamClient(gateway, "default", { key: await gateway.key() });
    const called = await client.call("mcp_call", { server: "memory", tool: "add", args: { a: 20, b: 22 } });
    expect(called).toContain("42");
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("The server is OK.").waitFor();
  });

  test("a server is restarted, turned off, deleted and restored by undo", async () => {
    const gateway = await team();
    const page = await openConsole(gateway, { path: `/servers/${await uuidOf(gateway, "fix")}` });
    await page.getByRole("button", { name: "Restart" }).click();
    await page.getByText("fix is connected again.").waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Turn off" }).click();
    await page.getByText("fix is off", { exact: false }).waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Delete …" }).click();
    await page.getByText("It is removed from dev.").waitFor();
    // The open drawer reads the deleted server again and gets a 404.
    allowError(page, /404/);
    await page.getByRole("button", { name: "Delete server" }).click();
    const list = page.getByRole("grid", { name: "Servers" });
    await list.getByText("fix", { exact: true }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).last().click();
    await list.getByText("fix", { exact: true }).waitFor();
    expect((await gateway.api("GET", "/namespaces/dev")).body.servers).toHaveLength(2);
  });

  test("the login button of a server leads to its login and back to the server", async () => {
    const { gateway, api, uuid, by } = await userLoginTeam();
    await api("PATCH", `/mcp-servers/${uuid}`, { credentials: "shared", oauth: true });
    await api("POST", `/mcp-servers/${uuid}/connect`);
    const page = await openConsole(gateway);
    allowError(page, new RegExp(`^request to ${by.url}`));
    await page
      .getByRole("region", { name: "Needs attention" })
      .getByRole("button", { name: "Log in mail" })
      .click();
    await page.waitForURL((at) => at.pathname === `/servers/${uuid}`);
    await page
      .getByRole("dialog", { name: "mail" })
      .getByText("connected", { exact: true })
      .first()
      .waitFor();
  });

  test("changes of others and of server states appear without a reload", async () => {
    const gateway = await team();
    const page = await openConsole(gateway, { role: "viewer", path: "/servers" });
    await page.getByText("2 servers, none started yet.").waitFor();
    await gateway.api("POST", "/mcp-servers", { name: "broken", command: "there-is-no-such-command" });
    await page.getByText("3 servers, none started yet.").waitFor();
    await gateway.api("POST", "/mcp-servers/broken/connect");
    await page.getByText("1 of 3 servers needs attention:").waitFor();
    await gateway.api("DELETE", "/mcp-servers/broken");
    await gateway.api("POST", "/mcp-servers/fix/connect");
    await page.getByText("No server fails; 1 of 2 is not started now").waitFor();
  });

  test("viewers and editors see only the actions they may take", async () => {
    const { gateway, uuid } = opened();
    const path = `/servers/${uuid}`;
    const viewer = await openConsole(gateway, { role: "viewer", path });
    await viewer.getByRole("tab", { name: "Tools" }).waitFor();
    for (const name of ["Restart", "More", "Add server"])
      expect([name, await viewer.getByRole("button", { name }).count()]).toEqual([name, 0]);
    expect(await viewer.getByRole("tab", { name: "Log" }).count()).toBe(0);
    await viewer.getByRole("tab", { name: "Settings" }).click();
    await viewer.getByText("Your role can only view this.").waitFor();
    expect(await viewer.getByRole("button", { name: "Save" }).count()).toBe(0);
    const editor = await openConsole(gateway, { role: "editor", path });
    await editor.getByRole("button", { name: "More" }).click();
    expect(await editor.getByRole("menuitem").allTextContents()).toEqual(["Turn off"]);
  });

  test("hostile texts of a server are shown as plain text", async () => {
    const gateway = await team();
    const evil = `<img src=x onerror=alert(1)>\u202e\u0007`;
    await gateway.api("PATCH", "/mcp-servers/fix", {
      description: `${evil}<script>alert(1)</script>`,
      command: "node",
      args: ["-e", `console.error(${JSON.stringify(evil)}); process.exit(3)`],
    });
    const uuid = await uuidOf(gateway, "fix");
    const page = await openConsole(gateway, { path: `/servers/${uuid}` });
    page.on("dialog", () => expect.unreachable("a script ran"));
    await page.getByText("<script>alert(1)</script>", { exact: false }).first().waitFor();
    await page.getByRole("tab", { name: "Log" }).click();
    await page.getByRole("log").getByText("<img src=x onerror=alert(1)>", { exact: false }).waitFor();
    expect(await page.locator("main img, dialog img").count()).toBe(0);
  });

  test("the list and each tab of the drawer are accessible", async () => {
    const { gateway, page, uuid } = opened();
    await gateway.api("POST", `/mcp-servers/${uuid}/connect`);
    await page.goto(`${gateway.url}/servers`);
    await page.getByText(/^All 2 servers are OK|^No server fails;/).waitFor();
    await expectAccessibleInBothThemes(page);
    for (const tab of ["state", "tools", "settings", "log", "calls"]) {
      await page.goto(`${gateway.url}/servers/${uuid}?tab=${tab}`);
      await page.getByRole("tabpanel").waitFor();
      await expectAccessibleInBothThemes(page);
    }
  });
});

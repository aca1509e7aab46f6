/** The console says why a call failed, mends it, undoes one change, and connects a client in one step. */
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { layeredTeam } from "../support/layered-team.ts";
import { shared } from "../support/shared.ts";
import { teamClient } from "../support/team-gateway.ts";
import { until } from "../support/until.ts";

describe.skipIf(noBrowser)("the console", () => {
  const opened = shared(async () => {
    const made = await layeredTeam({
      namespace: { tools: [{ server: "fix", tool: "env", disabled: true }] },
    });
    const client = await teamClient(made.gateway, "meta", { key: made.key });
    const lister = await teamClient(made.gateway, "aggregate", { key: made.key });
    const call = (tool: string, args: object) =>
      client.call("mcp_call", { server: "fix", tool, args }).catch(() => {});
    await call("echo", { message: "fine" });
    // By its name in the list of all tools, where it is not.
    await lister.call("fix__env", { names: ["HOME"] }).catch(() => {});
    await call("is_error", { message: "the printer is out of paper" });
    await call("crash", { code: 3 });
    return { ...made, page: await openConsole(made.gateway, { path: "/traffic" }) };
  });

  test("the search in Traffic finds calls, and their rows say why", async () => {
    const { page } = opened();
    const rows = page.getByRole("grid", { name: "Calls" }).locator("tbody tr[data-key]");
    await until(async () => (await rows.count()) === 4, { what: "four calls" });
    await page.getByPlaceholder("Search calls").fill("is_err");
    await until(async () => (await rows.count()) === 1, { what: "one call" });
    await rows.getByText("the printer is out of paper").waitFor();
    await page.getByPlaceholder("Search calls").fill("fix:env");
    await rows.getByText('disabled in namespace "team"').waitFor();
  });

  test("a refused call says first which switch hides the tool, and turns it on", async () => {
    const { page, api } = opened();
    await page.getByText("fix:env").click();
    const why = page.getByRole("region", { name: "Refused" });
    await why.getByText('disabled in namespace "team"').waitFor();
    await page.getByText('"HOME"').waitFor();
    await why.getByRole("button", { name: "Turn on env in team" }).click();
    await page.getByText("env is on").waitFor();
    await why.getByRole("link", { name: "Open namespace team" }).waitFor();
    await why.getByRole("button", { name: /^Turn on/ }).waitFor({ state: "detached" });
    const on = async () =>
      (await api("GET", "/namespaces/team/tools")).body.items.find(
        (row: { tool: string }) => row.tool === "env",
      ).enabled;
    expect(await on()).toBe(true);
    await page.getByRole("button", { name: "Undo" }).click();
    await until(async () => !(await on()), { what: "the switch as before" });
    await why.getByRole("button", { name: "Turn on env in team" }).waitFor();
  });

  test("a call that a dying process failed offers a restart", async () => {
    const { gateway, page } = opened();
    await page.goto(`${gateway.url}/traffic?outcome=error&q=crash`);
    await page.getByText("fix:crash").click();
    const why = page.getByRole("region", { name: "Failed" });
    await why.getByText(/process exited with code 3/).waitFor();
    await why.getByRole("button", { name: "Restart server" }).click();
    await page.getByText(/fix is connected/).waitFor();
  });

  test("one revision is undone alone: its values are shown, and later changes stay", async () => {
    const { gateway, page, api } = opened();
    const off = async (tool: string) => {
      await api("POST", "/namespaces/team/tools", { set: [{ server: "fix", tool, disabled: true }] });
      return (await api("GET", "/revisions?limit=1")).body.items[0].n as number;
    };
    const first = await off("add");
    await off("sleep");
    await page.goto(`${gateway.url}/history`);
    await page.getByText('update namespace "team": add off').click();
    await page.getByRole("heading", { name: "What it changed" }).waitFor();
    await page.locator(".diff").getByText("add", { exact: false }).first().waitFor();
    await page.locator(".diff").getByText('"server": "fix"').first().waitFor();
    await page.getByRole("button", { name: "Undo this change" }).click();
    await page
      .getByRole("dialog", { name: `Undo revision ${first}?` })
      .getByRole("button", { name: "Undo", exact: true })
      .click();
    await page.getByText(/Undone: the config is at revision/).waitFor();
    const { tools } = (await api("GET", "/namespaces/team")).body;
    const disabled = tools.flatMap((rule: { tool: string; disabled?: boolean }) =>
      rule.disabled ? rule.tool : [],
    );
    expect(disabled).toContain("sleep");
    expect(disabled).not.toContain("add");
  });

  test("the palette finds tools and calls, and runs actions", async () => {
    const { page } = opened();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Command palette" }).fill("progress");
    await page.getByRole("option", { name: /fix:progress/ }).waitFor();
    // What is called so stands before a search for it.
    expect(await page.getByRole("option").last().textContent()).toMatch(/^Calls with/);
    await page.getByRole("combobox", { name: "Command palette" }).fill("crash");
    await page.getByRole("option", { name: /Calls with/ }).click();
    await page.getByPlaceholder("Search calls").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Command palette" }).fill("invite");
    await page.getByRole("option", { name: "Invite a person" }).waitFor();
    await page.keyboard.press("Escape");
  });

  test("a member's home connects a client with a key made there, and Try it is open to them", async () => {
    const { gateway } = opened();
    const page = await openConsole(gateway, { role: "member" });
    await page.getByRole("heading", { name: "Connect your client" }).waitFor();
    await page.getByText("Cursor", { exact: true }).click();
    await page.getByRole("button", { name: "Create my key" }).click();
    const href = await page.getByRole("link", { name: "Add to Cursor" }).getAttribute("href");
    const config = JSON.parse(atob(new URL(href ?? "").searchParams.get("config") ?? "")) as {
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };
    const name = new URL(config.url).pathname.split("/")[2] ?? "";
    const client = await teamClient(gateway, name, { key: config.headers["X-API-Key"] ?? "" });
    await client.tools();
    await page.getByRole("heading", { name: "Your tools" }).waitFor();
    await page.getByRole("link", { name: "Try it" }).click();
    await page.getByText("echo", { exact: false }).first().click();
    await page.getByRole("button", { name: "Call", exact: true }).waitFor();
  });

  test("the rule that refused a call is offered for change only to those who may change it", async () => {
    const policy = { use: "policy", default: "allow", rules: [{ effect: "deny", tools: ["fix:weird"] }] };
    const { gateway, api, key } = await layeredTeam({ endpoint: { middleware: [policy] } });
    const client = await teamClient(gateway, "meta", { key });
    await client.call("mcp_call", { server: "fix", tool: "weird", args: {} }).catch(() => {});
    const [{ id }] = (await api("GET", "/calls?limit=1&tool=weird")).body.items;
    const words = {
      admin: "Edit the policy rule",
      editor: "See the policy rule",
      viewer: "See the policy rule",
    };
    for (const [role, word] of Object.entries(words)) {
      const page = await openConsole(gateway, { role: role as keyof typeof words, path: `/traffic/${id}` });
      await page.getByRole("link", { name: word, exact: true }).click();
      await page.getByRole("tab", { name: "Pipeline", selected: true }).waitFor();
      await page.getByText("Deny").first().waitFor();
    }
  });
});

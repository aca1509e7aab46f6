/** Administration in the console, and its effects on clients. */
import { describe, expect, test } from "vitest";
import { allowError, logIn, noBrowser, openPage } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { fullTeam } from "../support/full-team.ts";
import { PASSWORD } from "../support/people.ts";
import { shared } from "../support/shared.ts";
import { type TeamGateway, teamClient, teamGateway } from "../support/team-gateway.ts";
import { teamPerson } from "../support/team-person.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

/** A gateway with a server, a namespace and an endpoint that lists all tools. */
async function team(flags: readonly string[] = [], endpoint: object = {}): Promise<TeamGateway> {
  const gateway = await teamGateway(temp());
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "fix", ...fixture(...flags) });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  await api("POST", "/endpoints", { name: "main", namespaces: ["team"], surface: "aggregate", ...endpoint });
  return gateway;
}

const POLL = { timeout: 20_000 };

describe.skipIf(noBrowser)("administration", () => {
  // For tests that leave server, namespace and endpoint in working order.
  const opened = shared(async () => {
    const gateway = await team();
    return { gateway, page: await openConsole(gateway) };
  });

  test("a key is created, shown once, used by a client, and revoked, which ends the session", async () => {
    const { gateway, page } = opened();
    await page.goto(`${gateway.url}/keys`);
    await page.getByRole("button", { name: "Create key" }).first().click();
    await page.getByLabel("Name", { exact: false }).fill("laptop");
    await page.getByLabel("Description").fill("For work on the train");
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    const key = (await page.getByRole("dialog").locator("code").textContent()) ?? "";
    expect(key).toMatch(/^mmcp_/);
    // Esc by habit does not lose it.
    for (let n = 0; n < 2; n++) await page.keyboard.press("Escape");
    await page.getByRole("dialog").getByText(key, { exact: true }).waitFor();
    await page.getByRole("button", { name: "I copied it" }).click();
    expect(await page.content()).not.toContain(key);
    const client = await teamClient(gateway, "main", { key });
    expect(await client.call("fix__echo", { message: "hello" })).toBe("hello");
    await page.getByRole("link", { name: "Sessions" }).click();
    await page.getByRole("row", { name: /team/ }).getByText("main").waitFor();
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByText("laptop").click();
    expect(await page.getByLabel("Description").inputValue()).toBe("For work on the train");
    await page.getByRole("button", { name: "Revoke key" }).click();
    await page
      .getByRole("dialog", { name: "Revoke laptop?" })
      .getByRole("button", { name: "Revoke key" })
      .click();
    await page.getByText("Key laptop is revoked").waitFor();
    await expect(client.call("fix__echo", { message: "again" })).rejects.toThrow();
    await page.getByRole("link", { name: "Sessions" }).click();
    await page.getByText("No client is connected").waitFor();
  });

  test("500 found tools are turned off at once, clients are notified, and undo turns them on again", async () => {
    const gateway = await team(["--tools", "500"]);
    const key = await gateway.key();
    const client = await teamClient(gateway, "main", { key });
    const numbered = async () =>
      (await client.tools()).filter((name) => name.startsWith("fix__tool_")).length;
    await until(async () => (await numbered()) > 400, { what: "the first page of the list" });
    // A client that lists again by itself gets no notification. This one lists once and waits.
    const waiting = await teamClient(gateway, "main", { key });
    await waiting.tools();
    const page = await openConsole(gateway, { path: "/tools" });
    await page.getByPlaceholder("Search tools").fill("tool_");
    await page.getByRole("checkbox", { name: /select all/i }).check();
    await page.getByRole("button", { name: "Turn off in team" }).click();
    await page.getByText("500 tools turned off").waitFor();
    await until(async () => (await numbered()) === 0, { what: "a list without them" });
    expect(await client.tools()).toContain("fix__echo");
    await until(() => waiting.listChanges > 0, { what: "list_changed" });
    const { body } = await gateway.api("GET", "/revisions?limit=1");
    expect(body.items[0].n).toBe(4);
    await page.getByRole("button", { name: "Undo" }).click();
    await until(async () => (await numbered()) > 400, { what: "the whole list" });
  });

  test("a tool gets another name and a fixed argument, and a rollback removes both", async () => {
    const { gateway, page } = opened();
    const client = await teamClient(gateway, "main", { key: await gateway.key() });
    await client.tools();
    const before = (await gateway.api("GET", "/revisions?limit=1")).body.items[0].n;
    await page.goto(`${gateway.url}/tools?q=echo`);
    await page.getByRole("gridcell", { name: "fix:echo", exact: true }).first().click();
    await page.getByRole("tab", { name: "In a namespace" }).click();
    await page.getByRole("textbox", { name: /^Name/ }).fill("say");
    await page.getByLabel("message", { exact: true }).selectOption("fixed");
    await page.getByLabel("Value (JSON): message").fill('"always"');
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("echo is saved").waitFor();
    await until(async () => (await client.tools()).includes("fix__say"), { what: "the new name" });
    expect(await client.call("fix__say")).toBe("always");
    await page.goto(`${gateway.url}/history/${before}`);
    await page.getByRole("button", { name: "Return to this state" }).click();
    await page
      .getByRole("dialog", { name: /Return to the state of revision/ })
      .getByRole("button", { name: "Return" })
      .click();
    await page.getByText(/Done: the config is at revision/).waitFor();
    await until(async () => (await client.tools()).includes("fix__echo"), { what: "the old name" });
  });

  test("a change of another administrator appears in an open form, and a conflict is reported", async () => {
    const { gateway, page: ada } = opened();
    await ada.goto(`${gateway.url}/endpoints/main?tab=settings`);
    await ada.getByRole("textbox", { name: /Description/ }).fill("of Ada");
    const { body } = await gateway.api("PATCH", "/endpoints/main", {
      description: "of Bob",
      surface: "meta",
    });
    expect(body.description).toBe("of Bob");
    const conflict = ada.getByRole("alert").filter({ hasText: "admin token changed this (− theirs" });
    await conflict.getByText("of Bob").waitFor();
    await conflict.getByText("of Ada").waitFor();
    await expect.poll(() => ada.getByLabel("Surface").inputValue(), POLL).toBe("meta");
    await ada.getByRole("button", { name: "Keep mine" }).click();
    await ada.getByRole("button", { name: "Save", exact: true }).click();
    await ada.getByText("main is saved").waitFor();
    const { body: after } = await gateway.api("GET", "/endpoints/main");
    expect(after).toMatchObject({ description: "of Ada", surface: "meta" });
  });

  test("changes of two administrators to other fields of a tool or an account are both kept", async () => {
    const { gateway, page } = opened();
    const { api } = gateway;
    await api("POST", "/mcp-servers/fix/connect");
    await page.goto(`${gateway.url}/tools?q=echo`);
    await page.getByRole("gridcell", { name: "fix:echo", exact: true }).first().click();
    await page.getByRole("tab", { name: "In a namespace" }).click();
    await page.getByRole("textbox", { name: /^Title/ }).fill("of Ada");
    const set = [{ server: "fix", tool: "echo", description: "of Bob" }];
    await api("POST", "/namespaces/team/tools", { set });
    const description = page.getByRole("textbox", { name: /^Description/ });
    await expect.poll(() => description.inputValue(), POLL).toBe("of Bob");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("echo is saved").waitFor();
    const { body: kept } = await api("GET", "/namespaces/team");
    expect(kept.tools).toMatchObject([{ title: "of Ada", description: "of Bob" }]);

    const { body: mia } = await api("POST", "/users", { email: "mia@example.org", role: "member" });
    await page.goto(`${gateway.url}/people/${mia.uuid}`);
    const groups = page.getByRole("combobox", { name: /^Groups/ });
    // What is typed counts without Enter.
    await groups.fill("finance");
    await api("PATCH", `/users/${mia.uuid}`, { role: "viewer" });
    await expect.poll(() => page.getByLabel("Role").inputValue(), POLL).toBe("viewer");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(/^Saved/).waitFor();
    const { body: people } = await api("GET", "/users");
    const found = people.items.find(({ uuid }: { uuid: string }) => uuid === mia.uuid);
    expect(found).toMatchObject({ role: "viewer", groups: ["finance"] });
  });

  test("a limit of an endpoint that is emptied is removed", async () => {
    const gateway = await team([], { limits: { sessions: 5, inFlight: 7 } });
    const { uuid } = (await gateway.api("GET", "/endpoints/main")).body;
    const page = await openConsole(gateway, { path: `/endpoints/${uuid}?tab=settings` });
    await page.getByLabel("Maximum sessions").fill("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("main is saved").waitFor();
    expect((await gateway.api("GET", "/endpoints/main")).body.limits).toEqual({ inFlight: 7 });
  });

  test("unsaved input survives a change of tab and the end of the login, but not another account", async () => {
    const { gateway } = opened();
    const page = await openConsole(gateway, { path: "/endpoints/main?tab=settings" });
    const description = page.getByRole("textbox", { name: /Description/ });
    await description.fill("typed");
    await page.getByRole("tab", { name: "Access" }).click();
    await page.getByRole("tab", { name: "Settings" }).click();
    expect(await description.inputValue()).toBe("typed");
    allowError(page, /401/);
    // A change makes the page read again, which the gateway refuses without a cookie.
    const endLogin = async (stateless: boolean) => {
      await page.context().clearCookies();
      await gateway.api("PATCH", "/endpoints/main", { stateless });
      await page.getByRole("heading", { name: "Log in" }).waitFor();
    };
    await endLogin(true);
    await logIn(page, { email: "admin@example.org", password: PASSWORD });
    await description.waitFor();
    expect(await description.inputValue()).toBe("typed");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("main is saved").waitFor();
    // Another account does not see the input.
    await description.fill("secret");
    await endLogin(false);
    const { email } = await teamPerson(gateway, "admin", { email: "other@example.org" });
    await logIn(page, { email, password: PASSWORD });
    await description.waitFor();
    expect(await description.inputValue()).toBe("typed");
  });

  test("the overview links to the changed tools only", async () => {
    const { gateway, special } = await fullTeam();
    const page = await openConsole(gateway);
    await page.getByRole("link", { name: "Review" }).click();
    const rows = page.getByRole("grid", { name: "Tools" }).locator("tbody tr[data-key]");
    await rows.getByText(special.changed, { exact: true }).waitFor();
    expect(await rows.count()).toBe(1);
  });

  // A refused request would be logged in the browser console and fail the test.
  test("a form reports a missing value before it is sent", async () => {
    const { gateway, page } = opened();
    const keys = async () => (await gateway.api("GET", "/api-keys")).body.items.length;
    const before = await keys();
    await page.goto(`${gateway.url}/keys?new=1`);
    const dialog = page.getByRole("dialog", { name: "Create an API key" });
    await dialog.getByRole("button", { name: "Create key" }).click();
    expect(await dialog.getByLabel("Name").evaluate((field) => field.matches(":focus:invalid"))).toBe(true);
    // Without a bubble of the browser beside it.
    expect(await dialog.locator("form").evaluate((form) => form.matches("[novalidate]"))).toBe(true);
    await dialog.getByText("Required.").waitFor();
    await dialog.getByLabel("Name").fill("laptop");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Copy the key now" }).waitFor();
    expect(await keys()).toBe(before + 1);
  });

  test("an error that the gateway finds is said once, at its field", async () => {
    const { gateway, page } = opened();
    await page.goto(`${gateway.url}/endpoints`);
    await page.getByRole("button", { name: "Create endpoint" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: false }).first().fill("not/a name");
    allowError(page, /422/);
    await dialog.getByRole("button", { name: "Create endpoint" }).click();
    await dialog.locator("input[aria-invalid]").waitFor();
    expect(await dialog.getByRole("alert").count()).toBe(1);
  });

  test("a call that waits for approval appears without a reload and runs after the approval", async () => {
    const rules = [{ effect: "approve", tools: ["fix:echo"] }];
    const gateway = await team([], { middleware: [{ use: "policy", default: "allow", rules }] });
    const client = await teamClient(gateway, "main", { key: await gateway.key() });
    const page = await openConsole(gateway, { path: "/requests" });
    await page.getByText("No requests are waiting.").waitFor();
    const answer = client.call("fix__echo", { message: "please" });
    await page.getByText("fix:echo").click();
    await page.getByText('"please"').waitFor();
    await page.getByRole("button", { name: "Approve call" }).click();
    expect(await answer).toBe("please");
    await page.getByText("Approved: the call runs").waitFor();
    await page.getByRole("link", { name: "Open the call" }).click();
    await page.getByText("Layers it passed").waitFor();
    await page.getByRole("listitem").filter({ hasText: "policy" }).getByText("passed").waitFor();
  });

  test("each role sees only the pages and actions it may use", async () => {
    const { gateway } = opened();
    const pages = async (role: "viewer" | "editor" | "member") => {
      const page = await openConsole(gateway, { role });
      const names = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents();
      return { page, names };
    };
    const viewer = await pages("viewer");
    expect(viewer.names).not.toContain("People");
    expect(viewer.names).not.toContain("Settings");
    await viewer.page.getByRole("link", { name: "Endpoints" }).click();
    await viewer.page.getByText("main").click();
    await viewer.page.getByRole("tab", { name: "What a client sees" }).waitFor();
    expect(await viewer.page.getByRole("tab", { name: /Settings|Access/ }).count()).toBe(0);
    // Which layers decide about calls is shown, and cannot be changed.
    await viewer.page.getByRole("tab", { name: "Pipeline" }).click();
    await viewer.page.getByText(/^No layers\.$|^Every call and list passes/).waitFor();
    expect(await viewer.page.getByRole("tabpanel").getByRole("combobox").count()).toBe(0);
    expect(await viewer.page.getByRole("button", { name: "Create endpoint" }).count()).toBe(0);
    const editor = await pages("editor");
    await editor.page.getByRole("link", { name: "Endpoints" }).click();
    await editor.page.getByText("main").click();
    await editor.page.getByRole("tab", { name: "Settings" }).waitFor();
    expect(await editor.page.getByRole("tab", { name: "Access" }).count()).toBe(0);
    const member = await pages("member");
    expect(member.names).not.toContain("Servers");
    await member.page.getByRole("heading", { name: "Connect your client" }).waitFor();
    await member.page.getByText(`${gateway.url}/metamcp/main/mcp`, { exact: true }).waitFor();
    // How much a key is used is shown to those who may read it, and as 0 to nobody.
    for (const [{ page }, columns] of [
      [member, 0],
      [viewer, 1],
    ] as const) {
      await page.goto(`${gateway.url}/me`);
      await page.getByRole("button", { name: "Create my key" }).click();
      await page
        .getByText(/mmcp_\w+/)
        .first()
        .waitFor();
      await page.goto(`${gateway.url}/keys`);
      await page.getByRole("columnheader", { name: "Last used" }).waitFor();
      expect(await page.getByRole("columnheader", { name: "Calls, 7 d" }).count()).toBe(columns);
    }
  });

  test("whose call waits reads that others decide", async () => {
    const rules = [{ effect: "approve", tools: ["fix:echo"] }];
    const gateway = await team([], { middleware: [{ use: "policy", default: "allow", rules }] });
    const caller = await teamPerson(gateway, "member", { email: "caller@example.org" });
    const waiting = await caller.watch("POST", "/endpoints/main/try", {
      server: "fix",
      tool: "echo",
      args: { message: "please" },
    });
    await waiting.next("progress");
    const page = await openPage(`${gateway.url}/requests`, { cookie: caller.cookie });
    await page.getByText("1 call waits for approval, which others decide.").waitFor();
    await page.getByRole("tab", { name: "Calls", exact: true }).waitFor();
    const decider = await openConsole(gateway, { path: "/requests" });
    await decider.getByText("1 call waits for approval.").waitFor();
    await decider.getByRole("tab", { name: /^Calls\s*1$/ }).waitFor();
  });

  test("an open page recovers from a restart of the gateway", async () => {
    const folder = temp();
    const first = await teamGateway(folder);
    const port = new URL(first.url).port;
    const page = await openConsole(first, { path: "/history" });
    await page.getByRole("heading", { name: "History" }).waitFor();
    allowError(page, /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE|ERR_EMPTY/);
    await first.stop();
    await page.getByText("The gateway does not answer", { exact: false }).waitFor();
    const second = await teamGateway(folder, { flags: ["--port", port] });
    await page.getByText("live", { exact: true }).waitFor();
    await second.api("POST", "/namespaces", { name: "after" });
    await page.getByText("after", { exact: false }).first().waitFor();
    // The code of a page cannot be loaded while the gateway is unreachable.
    await page.route(/assets\/keys-/, (route) => route.abort("connectionrefused"));
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByText("This page could not be loaded").waitFor();
    await page.unroute(/assets\/keys-/);
    await second.stop();
    // Nothing to reload while the gateway is away.
    await page.getByRole("heading", { name: "The gateway does not answer" }).waitFor();
    expect(await page.getByRole("button", { name: "Reload" }).count()).toBe(0);
    await teamGateway(folder, { flags: ["--port", port] });
    await page.getByRole("button", { name: "Create key" }).first().waitFor();
  });
});

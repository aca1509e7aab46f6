/** The shell of the console: keyboard shortcuts, palette, theme, and restarts of the gateway. */
import { describe, expect, test } from "vitest";
import { expectAccessibleInBothThemes } from "../support/axe.ts";
import { allowError, noBrowser } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { shared } from "../support/shared.ts";
import { teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const POLL = { timeout: 20_000 };

describe.skipIf(noBrowser)("shell", () => {
  const made = shared(() => teamGateway(temp()));
  const uuidOf = async (email: string): Promise<string> =>
    (await made().api("GET", "/users")).body.items.find((one: { email: string }) => one.email === email).uuid;

  test("keyboard: the palette opens pages and runs actions, ? shows the shortcuts, / searches", async () => {
    const gateway = made();
    await gateway.api("POST", "/mcp-servers/import", { mcpServers: { alpha: fixture(), beta: fixture() } });
    await gateway.api("POST", "/endpoints", { name: "team" });
    const page = await openConsole(gateway);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    // What is typed before the palette has loaded is kept.
    let load = (): void => {};
    const typed = new Promise<void>((resolve) => (load = resolve));
    await page.route(/assets\/palette-.*js/, (route) => typed.then(() => route.continue()));
    await page.keyboard.press("Control+k");
    await page.keyboard.type("beta");
    load();
    await page.getByRole("combobox").waitFor();
    await page.keyboard.type(" serv");
    expect(await page.getByRole("combobox").inputValue()).toBe("beta serv");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "beta" }).waitFor();
    expect(page.url()).toMatch(/\/servers\/[0-9a-f-]{36}$/);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "beta" }).waitFor({ state: "detached" });

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("restart alp");
    await expectAccessibleInBothThemes(page);
    await page.keyboard.press("Enter");
    await page.getByText("alpha is connected again").waitFor();

    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page.keyboard.type("bet");
    const rows = page.getByRole("grid", { name: "Servers" }).getByRole("row");
    await until(async () => (await rows.count()) === 2, { what: "the head and one row" });
    expect(new URL(page.url()).search).toBe("?q=bet");
    // Shortcuts do not apply while somebody types.
    await page.keyboard.type("/?");
    await expect.poll(() => page.getByLabel("Search servers").inputValue(), POLL).toBe("bet/?");

    // Servers without a client: the overview leads to the step that connects one.
    await page.goto(gateway.url);
    await page.getByText("No client has used these servers in the last 30 days.").waitFor();
    await page.getByRole("main").getByRole("link", { name: "Connect a client" }).click();
    await page.getByRole("button", { name: "Create a key" }).waitFor();
  });

  test("the chosen theme is kept after a reload", async () => {
    const gateway = made();
    const page = await openConsole(gateway, { path: "/history" });
    const ground = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    await page.getByRole("button", { name: /^Account/ }).click();
    const light = await ground();
    await page.getByRole("menuitemradio", { name: "Dark theme" }).click();
    await until(async () => (await ground()) !== light, { what: "the dark theme" });
    const dark = await ground();
    await page.reload();
    await page.getByRole("button", { name: /^Account/ }).waitFor();
    await expect.poll(() => ground(), POLL).toBe(dark);
  });

  test("the page reports an unreachable gateway and recovers by itself, still logged in", async () => {
    const folder = temp();
    const first = await teamGateway(folder);
    await first.api("POST", "/mcp-servers/import", { mcpServers: { alpha: fixture() } });
    const page = await openConsole(first, { path: "/servers" });
    allowError(page, /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/);
    await page.getByText("The server has not started yet.").waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    const { port } = new URL(first.url);
    const top = async () => (await page.getByRole("heading", { level: 1 }).boundingBox())?.y;
    const before = await top();
    await first.stop();
    await page.getByRole("alert").getByText("The gateway does not answer.", { exact: false }).waitFor();
    // The old data stays visible where it was, and nothing says that all is well.
    await page.getByText("These are the last known states.").waitFor();
    expect(await top()).toBe(before);
    expect(await page.evaluate(`getComputedStyle(document.querySelector("main .status")).filter`)).toBe(
      "grayscale(1)",
    );
    await page.getByRole("grid", { name: "Servers" }).getByText("alpha").waitFor();
    const second = await teamGateway(folder, { flags: ["--port", port] });
    await second.api("POST", "/mcp-servers", { name: "newer", ...fixture() });
    await page.getByText("2 servers, none started yet.").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  test("a login that ends while a page is open leads to the login page, with the address to return to", async () => {
    const gateway = made();
    const email = "leaving@example.org";
    const page = await openConsole(gateway, { role: "viewer", email, path: "/history" });
    await page.getByText("live", { exact: true }).waitFor();
    allowError(page, /401/);
    await gateway.api("PATCH", `/users/${await uuidOf(email)}`, { disabled: true });
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    expect(new URL(page.url()).search).toBe("?to=%2Fhistory");
  });

  test("a changed role takes effect without a reload", async () => {
    const gateway = made();
    const email = "rising@example.org";
    const page = await openConsole(gateway, { role: "viewer", email, path: "/servers" });
    await page.getByText("live", { exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "People" }).count()).toBe(0);
    await gateway.api("PATCH", `/users/${await uuidOf(email)}`, { role: "admin" });
    await page.getByRole("link", { name: "People" }).waitFor();
  });

  test("missing objects, unknown pages and forbidden pages show a message", async () => {
    const gateway = made();
    const page = await openConsole(gateway, { role: "member" });
    await page.getByRole("heading", { name: "My account" }).waitFor();
    await page.goto(`${gateway.url}/people`);
    await page.getByRole("heading", { name: "Your role cannot open this page" }).waitFor();
    allowError(page, /404/);
    const admin = await openConsole(gateway, { path: "/servers/01900000-0000-7000-8000-000000000000" });
    await admin.getByRole("dialog", { name: "Not found" }).waitFor();
    await admin.goto(`${gateway.url}/no-such-page`);
    await admin.getByRole("heading", { name: "There is no such page" }).waitFor();
  });
});

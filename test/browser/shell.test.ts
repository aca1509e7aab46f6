/** What is around every page: keys, palette, theme, and a gateway that goes and comes back. */
import { describe, expect, test } from "vitest";
import { expectAccessibleInBoth } from "../support/axe.ts";
import { expectComplaint, noBrowser, openAs } from "../support/browser-page.ts";
import { teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

/** A page shows what it knows with its next frame. */
const SOON = { timeout: 20_000 };

describe.skipIf(noBrowser)("shell", () => {
  test("by keyboard: the palette goes anywhere and does things, ? shows the keys, / searches", async () => {
    const gateway = await teamGateway(temp());
    await gateway.api("POST", "/mcp-servers/import", { mcpServers: { alpha: fixture(), beta: fixture() } });
    await gateway.api("POST", "/endpoints", { name: "team" });
    const page = await openAs(gateway, "admin");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("beta serv");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "beta" }).waitFor();
    expect(page.url()).toMatch(/\/servers\/[0-9a-f-]{36}$/);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "beta" }).waitFor({ state: "detached" });

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("restart alp");
    await expectAccessibleInBoth(page);
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
    // Somebody types: no key of ours is taken from them.
    await page.keyboard.type("/?");
    await expect.poll(() => page.getByLabel("Search servers").inputValue(), SOON).toBe("bet/?");
  });

  test("the theme that was chosen stays", async () => {
    const gateway = await teamGateway(temp());
    const page = await openAs(gateway, "admin", "/history");
    const ground = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    await page.getByRole("button", { name: /^Account/ }).click();
    const light = await ground();
    await page.getByRole("menuitemradio", { name: "Dark theme" }).click();
    await until(async () => (await ground()) !== light, { what: "the dark theme" });
    const dark = await ground();
    await page.reload();
    await page.getByRole("button", { name: /^Account/ }).waitFor();
    await expect.poll(() => ground(), SOON).toBe(dark);
  });

  test("a gateway that is gone is said; back again, the page goes on by itself, logged in as before", async () => {
    const folder = temp();
    const first = await teamGateway(folder);
    await first.api("POST", "/mcp-servers/import", { mcpServers: { alpha: fixture() } });
    const page = await openAs(first, "admin", "/servers");
    expectComplaint(
      page,
      /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/,
    );
    await page.getByText("The server has not started yet.").waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    const { port } = new URL(first.url);
    await first.kill("SIGTERM");
    await page.getByRole("alert").getByText("The gateway does not answer.", { exact: false }).waitFor();
    // What was there stays in sight.
    await page.getByRole("grid", { name: "Servers" }).getByText("alpha").waitFor();
    const second = await teamGateway(folder, { flags: ["--port", port] });
    await second.api("POST", "/mcp-servers", { name: "newer", ...fixture() });
    await page.getByText("2 servers, none started yet.").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  test("a login that ends under the page leads to the login, and back", async () => {
    const gateway = await teamGateway(temp());
    const page = await openAs(gateway, "viewer", "/history");
    await page.getByText("live", { exact: true }).waitFor();
    const { body } = await gateway.api("GET", "/users");
    expectComplaint(page, /401/);
    await gateway.api("PATCH", `/users/${body.items[0].uuid}`, { disabled: true });
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    expect(new URL(page.url()).search).toBe("?to=%2Fhistory");
  });

  test("a role that changes is seen without a reload", async () => {
    const gateway = await teamGateway(temp());
    const page = await openAs(gateway, "viewer", "/servers");
    await page.getByText("live", { exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "People" }).count()).toBe(0);
    const { body } = await gateway.api("GET", "/users");
    await gateway.api("PATCH", `/users/${body.items[0].uuid}`, { role: "admin" });
    await page.getByRole("link", { name: "People" }).waitFor();
  });

  test("no page is as bad as a blank one: what is not there is said", async () => {
    const gateway = await teamGateway(temp());
    const page = await openAs(gateway, "member", "/");
    await page.getByRole("heading", { name: "My account" }).waitFor();
    await page.goto(`${gateway.url}/people`);
    await page.getByRole("heading", { name: "Your role cannot open this page" }).waitFor();
    expectComplaint(page, /404/);
    const admin = await openAs(gateway, "admin", "/servers/01900000-0000-7000-8000-000000000000");
    await admin.getByRole("dialog", { name: "Not found" }).waitFor();
    await admin.goto(`${gateway.url}/no-such-page`);
    await admin.getByRole("heading", { name: "There is no such page" }).waitFor();
  });
});

/** What the console says after a restart about servers that failed before. */
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { SECRET } from "../support/replicas.ts";
import { teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const MISSING = "/nowhere/to/be/found";

describe.skipIf(noBrowser)("after a restart", () => {
  test("a server that failed says so everywhere, and a click tries it", async () => {
    const folder = temp();
    const flags = temp();
    const first = await teamGateway(folder, { env: SECRET });
    const back = fixture("--flags-file", flags.path("flags"));
    flags.write("flags", "--exit-at-once 3");
    const servers = { down: { command: MISSING }, back, well: fixture() };
    await first.api("POST", "/mcp-servers/import", { mcpServers: servers });
    for (const name of Object.keys(servers)) await first.api("POST", `/mcp-servers/${name}/connect`);
    await first.stop();
    const gateway = await teamGateway(folder, { env: SECRET });

    const page = await openConsole(gateway, { path: "/" });
    const summary = page.locator(".page-summary");
    await until(async () => /since the gateway started/.test((await summary.textContent()) ?? ""));
    expect(await summary.textContent()).toBe(
      "2 of 3 servers need attention: down, back. 2 failed earlier and were not tried since the gateway started.",
    );
    const attention = page.getByRole("region", { name: "Needs attention" });
    const row = attention.getByRole("listitem").filter({ hasText: "down" });
    await row.getByText("failed earlier").waitFor();
    await row.getByText(MISSING).waitFor();
    const pages = page.getByRole("navigation", { name: "Pages" });
    await pages.getByRole("link", { name: "Servers 2" }).waitFor();

    await row.getByRole("button", { name: "Try now down" }).click();
    await page.getByText(/^down could not be connected: .*found/).waitFor();
    await row.getByText("failed", { exact: true }).waitFor();
    await row.getByRole("button", { name: "Restart down" }).waitFor();

    flags.write("flags", "");
    await attention.getByRole("link", { name: "back" }).click();
    const drawer = page.getByRole("dialog", { name: "back" });
    await drawer.getByText("before the gateway started, and not since").waitFor();
    await drawer.getByText("exited with code 3").first().waitFor();
    await drawer.getByRole("button", { name: "Try now" }).click();
    await drawer.getByText("connected", { exact: true }).first().waitFor();
    expect(await drawer.getByText("before the gateway started, and not since").count()).toBe(0);
    await drawer.getByRole("button", { name: "Restart", exact: true }).waitFor();
    await pages.getByRole("link", { name: "Servers 1" }).waitFor();

    await page.close();
    await gateway.stop();
    const again = await teamGateway(folder, { env: SECRET });
    const asViewer = await openConsole(again, { role: "viewer", path: "/servers" });
    const cell = asViewer.getByRole("row").filter({ hasText: "down" });
    await cell.getByText("failed earlier").waitFor();
    await cell.getByText(MISSING).first().waitFor();
    expect(await asViewer.getByRole("button", { name: /Try now/ }).count()).toBe(0);
    expect(await asViewer.getByText("failed earlier", { exact: true }).count()).toBe(1);
  });
});

/** Who calls what, as somebody sees it: the picture, charts, people and access. */
import { describe, expect, test } from "vitest";
import { expectAccessibleInBothThemes } from "../support/axe.ts";
import { noBrowser } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { shared } from "../support/shared.ts";
import { teamClient, teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

describe.skipIf(noBrowser)("usage", () => {
  const opened = shared(async () => {
    const gateway = await teamGateway(temp());
    const { api } = gateway;
    await api("POST", "/mcp-servers/import", { mcpServers: { fix: fixture(), other: fixture() } });
    await api("POST", "/namespaces", { name: "all", servers: [{ server: "fix" }, { server: "other" }] });
    await api("POST", "/endpoints", { name: "dev", namespaces: ["all"], surface: "aggregate" });
    await api("POST", "/users", { email: "bob@example.org", role: "member", groups: ["leads"] });
    const client = await teamClient(gateway, "dev", { key: await gateway.key() });
    for (let i = 0; i < 4; i++) await client.call("fix__add", { a: i, b: 1 });
    await client.call("other__fail").catch(() => {});
    await client.call("other__add", { a: 1, b: 2 });
    return { gateway, page: await openConsole(gateway) };
  });

  test("a ribbon of the picture leads to its calls, and the same is a table", async () => {
    const { gateway, page } = opened();
    await page.goto(`${gateway.url}/`);
    const picture = page.getByRole("group", { name: /^Who calls what/ });
    await picture.getByRole("link", { name: /^Server fix: 4/ }).waitFor();
    await expectAccessibleInBothThemes(page);
    // Hundreds of rows that nobody has asked for.
    expect(await page.locator(".usage-table tr").count()).toBe(0);
    await page.getByText("As a table").click();
    const row = page.getByRole("row", { name: /team dev all fix 4/ });
    expect(await row.count()).toBe(1);
    await picture.getByRole("link", { name: /^all → fix: 4 calls/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Audit" }).waitFor();
    expect(new URL(page.url()).searchParams.get("server")).toBe("fix");
    await page.getByText("add").first().waitFor();
  });

  test("the chart says what a step has, by arrow keys, and opens its calls", async () => {
    const { gateway, page } = opened();
    await page.goto(`${gateway.url}/`);
    const chart = page.getByRole("application", { name: /^Calls per minute/ });
    await page.getByText(/^Drag over a time to see its calls\. Times are in \w+/).waitFor();
    await chart.focus();
    await page.keyboard.press("ArrowLeft");
    await page.getByText(/^\w+ \d\d:\d\d: \d+ calls?/).waitFor();
    await page.getByRole("button", { name: "24 h" }).click();
    await page.getByRole("application", { name: "Calls per hour, last 24 hours" }).waitFor();
    expect(new URL(page.url()).searchParams.get("range")).toBe("24h");
    await page.getByRole("application", { name: /^Calls per hour/ }).focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Audit" }).waitFor();
    expect(new URL(page.url()).searchParams.get("from")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00$/);
  });

  test("the overview sends its requests at once, and those that are polled only once", async () => {
    const { gateway, page } = opened();
    const asked: string[] = [];
    let answer = () => {};
    const answers = new Promise<void>((resolve) => (answer = resolve));
    await page.route("**/api/v1/**", async (route) => {
      const path = new URL(route.request().url()).pathname.slice("/api/v1/".length);
      asked.push(path);
      if (path !== "login" && path !== "events") await answers;
      await route.continue();
    });
    await page.goto(`${gateway.url}/?range=7d`);
    const all = ["attention", "endpoints", "mcp-servers", "namespaces", "replicas", "sessions", "usage"];
    await until(() => all.every((path) => asked.includes(path)), { what: "requests for every list" });
    answer();
    await page.getByRole("group", { name: /^Who calls what/ }).waitFor();
    // With the stream of events everything else is read again.
    await until(() => asked.filter((path) => path === "endpoints").length > 1, {
      what: "what is read again",
    });
    expect(asked.filter((path) => path === "usage")).toHaveLength(1);
    await page.unrouteAll({ behavior: "wait" });
  });

  test("figures of both tables are about the chosen time", async () => {
    const { gateway, page } = opened();
    await page.goto(`${gateway.url}/?range=24h`);
    for (const name of ["Endpoints", "Servers"])
      await page.getByRole("grid", { name }).getByText("Calls, last 24 hours").waitFor();
  });

  test("access is chosen from people and roles, and says who can use the endpoint", async () => {
    const { gateway, page } = opened();
    await page.goto(`${gateway.url}/endpoints/dev?tab=access`);
    await page.getByText(/^2 people can use this:/).waitFor();
    await page.getByLabel("Only for some accounts").check();
    await page.getByLabel("People").selectOption("bob@example.org");
    await page.getByRole("button", { name: "Remove bob@example.org" }).waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(/^1 person can use this:/).waitFor();
    const { body } = await gateway.api("GET", "/endpoints/dev");
    expect(body.access.allow).toEqual({ users: ["bob@example.org"] });
  });

  test("a person shows what they may use, and keys show their calls", async () => {
    const { gateway, page } = opened();
    const { body } = await gateway.api("GET", "/users/bob@example.org");
    await page.goto(`${gateway.url}/people/${body.uuid}`);
    await page.getByText("Endpoints they may use").waitFor();
    await page.getByRole("dialog").getByRole("link", { name: "dev" }).waitFor();
    await page.getByText("not in the audit log").waitFor();
    await page.goto(`${gateway.url}/keys`);
    await page.getByRole("row", { name: /a key .* 6 / }).waitFor();
  });
});

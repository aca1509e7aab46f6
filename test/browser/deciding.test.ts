/** Rules and decisions in the console: policies as sentences, their tests, approvals in the row, webhooks. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { expectAccessibleInBothThemes } from "../support/axe.ts";
import { allowError, noBrowser } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { atEnd, shared } from "../support/shared.ts";
import { teamClient, teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

describe.skipIf(noBrowser)("deciding", () => {
  const opened = shared(async () => {
    const gateway = await teamGateway(temp());
    const { api } = gateway;
    await api("POST", "/mcp-servers", { name: "fix", ...fixture() });
    await api("POST", "/namespaces", { name: "all", servers: [{ server: "fix" }] });
    const rules = [{ effect: "approve", tools: ["fix:count_*"] }];
    const middleware = [{ use: "policy", default: "allow", rules }];
    await api("POST", "/endpoints", { name: "dev", namespaces: ["all"], surface: "aggregate", middleware });
    await api("POST", "/users", { email: "bob@example.org", role: "member", groups: ["guests"] });
    await api("POST", "/mcp-servers/fix/connect");
    const browser = { viewport: { width: 1440, height: 900 } };
    return { gateway, page: await openConsole(gateway, { browser }) };
  });

  test("a rule is written as a sentence with completion, tried before it is saved, and kept as a test", async () => {
    const { gateway, page } = opened();
    await page.goto(`${gateway.url}/endpoints/dev?tab=pipeline`);
    await page.getByRole("button", { name: "Edit policy" }).click();
    await page.getByRole("button", { name: "Add rule" }).click();
    const rule = page.getByRole("listitem", { name: "Rule 2" });
    await rule.getByText(/^Deny all tools/).waitFor();
    const tools = rule.getByLabel("Tools", { exact: true });
    const list = await tools.getAttribute("list");
    await page.locator(`datalist[id="${list}"] option[value="fix:echo"]`).waitFor({ state: "attached" });
    await tools.fill("fix:ec*");
    await tools.press("Enter");
    const groups = rule.getByLabel("Groups", { exact: true });
    await groups.fill("guests");
    await groups.press("Enter");
    await rule.getByText("Deny fix:ec* to group guests").waitFor();
    await rule.getByText("matches 1 tool, 1 person").waitFor();
    await page.getByRole("combobox", { name: /^May/ }).fill("bob@example.org");
    await page.getByRole("combobox", { name: /^call/ }).fill("fix:echo");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("No, it would be refused").waitFor();
    await expectAccessibleInBothThemes(page);
    await page.getByRole("button", { name: "Move Rule 2 up" }).click();
    await page.getByRole("listitem", { name: "Rule 1" }).getByText("Deny fix:ec* to group guests").waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("combobox", { name: /^May/ }).fill("bob@example.org");
    await page.getByRole("combobox", { name: /^call/ }).fill("fix:echo");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("No, it would be refused").waitFor();
    await page.getByRole("button", { name: "Keep as test" }).click();
    await page.getByText(/^Test "bob@example.org may not call fix:echo" is kept/).waitFor();
    const { body } = await gateway.api("GET", "/endpoints/dev");
    expect(body.middleware[0].rules.map(({ effect }: { effect: string }) => effect)).toEqual([
      "deny",
      "approve",
    ]);
  });

  test("a change that breaks a kept test is refused with its name, and the matrix says which rule decides", async () => {
    const { gateway, page } = opened();
    await page.goto(`${gateway.url}/endpoints/dev?tab=pipeline`);
    allowError(page, /422/);
    await page.getByRole("button", { name: "Edit policy" }).click();
    await page.getByRole("button", { name: "Remove Rule 1" }).click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page
      .getByText(/bob@example.org may not call fix:echo/)
      .first()
      .waitFor();
    const { body } = await gateway.api("GET", "/endpoints/dev");
    expect(body.middleware[0].rules).toHaveLength(2);
    await page.goto(`${gateway.url}/settings`);
    await page.getByText("1 of 1 pass.").waitFor();
    await page.goto(`${gateway.url}/endpoints/dev?tab=matrix`);
    await page.getByText("Choose a cell to see the rule that decides.").waitFor();
    await page.getByLabel("Filter tools").fill("echo");
    await page.getByRole("button", { name: "bob@example.org, fix:echo: may not" }).click();
    await page.getByText(/rule 1 denies it/).waitFor();
    await page.getByRole("button", { name: "admin@example.org, fix:echo: may" }).waitFor();
  });

  test("a call is approved in its row, with its arguments, and the title of the tab counts what waits", async () => {
    const { gateway, page } = opened();
    await page.goto(`${gateway.url}/requests`);
    const client = await teamClient(gateway, "dev", { key: await gateway.key() });
    const first = client.call("fix__count_unsafe", { key: "orders" });
    const second = client.call("fix__count_unsafe", { key: "people" }).catch((error: Error) => error.message);
    const row = page.getByRole("row", { name: /key orders/ });
    await row.getByText(/left$/).waitFor();
    const rule = row.getByRole("link", { name: /^policy, rule \d$/ });
    expect(await rule.getAttribute("href")).toMatch(/^\/endpoints\/[0-9a-f-]{36}\?tab=pipeline$/);
    await until(async () => (await page.title()).startsWith("(2)"), { what: "the count of 2" });
    // On a phone the buttons have a line for themselves.
    await page.setViewportSize({ width: 390, height: 844 });
    const around = await row.boundingBox();
    const refuse = await row.getByRole("button", { name: /^Refuse/ }).boundingBox();
    const bottom = (box: typeof refuse) => (box ? box.y + box.height : 0);
    expect(bottom(refuse)).toBeLessThanOrEqual(bottom(around));
    const left = await row.getByText(/left$/).boundingBox();
    expect(refuse?.y).toBeGreaterThanOrEqual(bottom(left));
    await page.setViewportSize({ width: 1440, height: 900 });
    await row.getByRole("button", { name: "Approve fix:count_unsafe" }).click();
    expect(await first).toMatch(/\d/);
    await row.getByText("admin@example.org").waitFor();
    await row.getByText("fix:count_unsafe").click();
    const drawer = page.getByRole("dialog");
    await drawer.getByRole("link", { name: "admin@example.org" }).waitFor();
    await drawer.getByText("Decided", { exact: true }).waitFor();
    await drawer.getByRole("button", { name: "Close" }).click();
    await page
      .getByRole("row", { name: /key people/ })
      .getByRole("button", { name: "Refuse fix:count_unsafe" })
      .click();
    expect(await second).toMatch(/refused/i);
    await until(async () => !(await page.title()).startsWith("("), { what: "no count" });
  });

  test("a webhook is added and tried: a private address is refused unless it is allowed", async () => {
    const { gateway, page } = opened();
    const bodies: string[] = [];
    const receiver = createServer((request, response) => {
      request.on("data", (chunk: Buffer) => bodies.push(String(chunk)));
      request.on("end", () => response.end());
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    atEnd(() => void receiver.close());
    await page.goto(`${gateway.url}/settings`);
    await page.getByRole("button", { name: "Add webhook" }).click();
    const fields = page.getByRole("group", { name: "Webhook 1" });
    await fields.getByLabel("Name", { exact: false }).first().fill("chat");
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const addressField = fields.getByLabel("Address", { exact: false }).first();
    await addressField.fill(url);
    const save = page.getByRole("button", { name: "Save", exact: true });
    allowError(page, /422/);
    await save.click();
    await page.getByText(/^Must begin with https/).waitFor();
    await addressField.fill(url.replace("http:", "https:"));
    await save.click();
    const sends = fields.getByRole("button", { name: "Send a test" });
    await sends.click();
    await fields.getByRole("status").getByText("Not sent").waitFor();
    await fields
      .getByRole("status")
      .getByText(/private/)
      .waitFor();
    await fields.getByRole("switch", { name: "Allow private addresses" }).check();
    await addressField.fill(url);
    await save.click();
    await page.getByText("What saving changes").waitFor({ state: "detached" });
    await sends.click();
    await fields.getByRole("status").getByText("Sent", { exact: true }).waitFor();
    expect(bodies.join()).toContain(gateway.url);
    await expectAccessibleInBothThemes(page);
  });
});

/** The page Try it: calls, questions, progress, errors, and explanations of a policy. */
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { shared } from "../support/shared.ts";
import { teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const RULES = [
  { effect: "deny", who: { roles: ["member"] }, tools: ["fix:echo"], args: { message: { glob: "no*" } } },
];

/** The page of one administrator for all tests, at the endpoint `main`, or `ruled`, which has a policy. */
async function open() {
  const gateway = await teamGateway(temp());
  const { api } = gateway;
  const { body: server } = await api("POST", "/mcp-servers", { name: "fix", ...fixture() });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  await api("POST", "/endpoints", { name: "main", namespaces: ["team"] });
  const middleware = [{ use: "policy", default: "allow", rules: RULES }];
  await api("POST", "/endpoints", { name: "ruled", namespaces: ["team"], middleware });
  await api("POST", `/mcp-servers/${server.uuid}/connect`);
  const page = await openConsole(gateway);
  const show = (tool: string, { endpoint = "main", as = "" } = {}) =>
    page.goto(
      `${gateway.url}/try?endpoint=${endpoint}&server=${server.uuid}&tool=${tool}${as && `&as=${as}`}`,
    );
  return { gateway, page, show };
}

describe.skipIf(noBrowser)("the page Try it", () => {
  const opened = shared(open);

  test("calls a tool with a form of its schema and shows the result and the request", async () => {
    const { gateway, page, show } = opened();
    await show("echo");
    await page.getByRole("textbox", { name: /^message/ }).fill("<b>12345678901234567890</b>");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.locator(".result").getByText("<b>12345678901234567890</b>").waitFor();
    expect(await page.locator(".result b").count()).toBe(0);
    expect(await page.locator(".result").textContent()).not.toContain("content");
    await page.getByText("What a client would send").click();
    await page.getByText("mcp_call").first().waitFor();
    const { body } = await gateway.api("GET", "/audit?kind=call");
    expect(body.items[0]).toMatchObject({
      tool: "echo",
      outcome: "ok",
      principal: { name: "admin@example.org" },
    });
  });

  test("shows a question of the server, and declining it continues the call", async () => {
    const { page, show } = opened();
    await show("ask");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const question = page.getByRole("region", { name: "The server asks" });
    await question.getByRole("button", { name: "Decline" }).click();
    await page.locator(".result").getByText("decline").first().waitFor();
  });

  test("shows a question as a form, and sends the answer to the server", async () => {
    const { page, show } = opened();
    await show("ask");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const question = page.getByRole("region", { name: "The server asks" });
    await question.getByRole("textbox", { name: /^name/ }).fill("Grace");
    await question.getByRole("button", { name: "Answer" }).click();
    await page.locator(".result").getByText("Grace").first().waitFor();
    await question.waitFor({ state: "detached" });
  });

  test("shows progress of a running call and cancels it", async () => {
    const { page, show } = opened();
    await show("progress");
    await page.getByRole("textbox", { name: /^n$|^n / }).fill("10000");
    await page.getByRole("textbox", { name: /^ms/ }).fill("20");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const bar = page.getByRole("progressbar");
    const reported = () => page.evaluate<number>("document.querySelector('progress')?.value ?? 0");
    await until(async () => (await reported()) > 2, { what: "progress" });
    await page.getByRole("button", { name: "Cancel call" }).click();
    await bar.waitFor({ state: "detached" });
    await page.getByText("Cancelled.").waitFor();
    await page.getByRole("textbox", { name: /^n$|^n / }).fill("3");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.locator(".result").getByText("reported 3").waitFor();
  });

  test("shows an error of the tool as a failure", async () => {
    const { gateway, page, show } = opened();
    await show("is_error");
    await page.getByRole("textbox", { name: /^message/ }).fill("The disk is full.");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.locator(".result").getByText("The disk is full.").waitFor();
    await page.locator(".result").getByText("failed", { exact: false }).first().waitFor();
    const { body } = await gateway.api("GET", "/calls");
    expect(body.items[0]).toMatchObject({ tool: "is_error", outcome: "error" });
  });

  test("names the rule that would refuse a call", async () => {
    const { gateway, page, show } = opened();
    const { body: bob } = await gateway.api("POST", "/users", { email: "bob@example.org", role: "member" });
    await show("echo", { endpoint: "ruled", as: bob.uuid });
    await page.getByRole("textbox", { name: /^message/ }).fill("no way");
    await page.getByRole("button", { name: "What would happen" }).click();
    await page.getByText("It would be refused.").waitFor();
    await page.getByRole("row").filter({ hasText: "policy" }).getByText("denied").waitFor();
  });
});

/** The page Try it: calls, questions, progress, errors, and explanations of a policy. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { allowError, noBrowser } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { atEnd, shared } from "../support/shared.ts";
import { ADMIN_TOKEN, teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const RULES = [
  { effect: "deny", who: { roles: ["member"] }, tools: ["fix:echo"], args: { message: { glob: "no*" } } },
];

/** Tries to get at the console, and shows what it was told. */
const APP = `<!doctype html><meta charset="utf-8"><p id="told"></p><p id="got"></p><script>
const got = [], say = () => (document.getElementById("got").textContent = got.join(" "));
const attempt = (name, run) => { try { got.push(name + ":" + (run() ? "open" : "shut")); } catch { got.push(name + ":shut"); } };
attempt("parent", () => parent.document.body);
attempt("top", () => top.location.href);
attempt("cookie", () => document.cookie !== undefined);
attempt("storage", () => localStorage);
attempt("popup", () => open("/"));
got.push("origin:" + self.origin);
fetch("/api/v1/me").then(() => got.push("fetch:open"), () => got.push("fetch:shut")).then(say);
addEventListener("message", ({ data }) => {
  if (data.id === 1) parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/initialized" }, "*");
  if (data.id === 2) document.getElementById("told").textContent += " refused " + data.error.code;
  if (data.method === "ui/notifications/tool-result") {
    document.getElementById("told").textContent = "told " + data.params.content[0].text;
    parent.postMessage({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "show" } }, "*");
  }
});
parent.postMessage({ jsonrpc: "2.0", id: 1, method: "ui/initialize", params: {} }, "*");
</script>`;

/** The page of one administrator for all tests, at the endpoint `main`, or `ruled`, which has a policy. */
async function open() {
  const gateway = await teamGateway(temp());
  const { api } = gateway;
  const { body: server } = await api("POST", "/mcp-servers", { name: "fix", ...fixture() });
  const folder = temp();
  const answers = {
    "tools/list": {
      tools: [{ name: "show", inputSchema: {}, _meta: { ui: { resourceUri: "ui://app/main" } } }],
    },
    "resources/read": {
      contents: [{ uri: "ui://app/main", mimeType: "text/html;profile=mcp-app", text: APP }],
    },
  };
  folder.write("app.json", JSON.stringify(answers));
  const app = fixture("--bare", "--answers", folder.path("app.json"));
  const { body: apps } = await api("POST", "/mcp-servers", { name: "app", ...app });
  await api("POST", `/mcp-servers/${apps.uuid}/connect`);
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }, { server: "app" }] });
  await api("POST", "/endpoints", { name: "main", namespaces: ["team"] });
  const middleware = [{ use: "policy", default: "allow", rules: RULES }];
  await api("POST", "/endpoints", { name: "ruled", namespaces: ["team"], middleware });
  await api("POST", `/mcp-servers/${server.uuid}/connect`);
  const page = await openConsole(gateway);
  const show = (tool: string, { endpoint = "main", as = "", of = server.uuid } = {}) =>
    page.goto(`${gateway.url}/try?endpoint=${endpoint}&server=${of}&tool=${tool}${as && `&as=${as}`}`);
  return { gateway, page, show, app: apps.uuid };
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

  test("shows the page of a tool in a frame that reaches nothing of the console", async () => {
    const { gateway, page, show, app } = opened();
    allowError(page, /app-page|frame-src/);
    await show("show", { of: app });
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByRole("button", { name: "Show the page of this tool" }).click();
    const frame = page.frameLocator("iframe[title='Page of the tool']");
    await frame.getByText(/^told .* refused -32601$/).waitFor();
    const got = frame.locator("#got");
    await got.getByText("fetch:shut").waitFor();
    expect((await got.textContent())?.split(" ").sort()).toEqual(
      [
        "parent:shut",
        "top:shut",
        "cookie:shut",
        "storage:shut",
        "popup:shut",
        "origin:null",
        "fetch:shut",
      ].sort(),
    );
    // It cannot take what it was told elsewhere.
    const asked: string[] = [];
    const stranger = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end();
    });
    atEnd(() => void stranger.close());
    await new Promise<void>((ready) => stranger.listen(0, "127.0.0.1", ready));
    const elsewhere = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`;
    const refused = page.waitForEvent("console", (message) => message.text().includes("frame-src"));
    await got.evaluate(`void (location.href = "${elsewhere}?told")`);
    await refused;
    expect(asked).toEqual([]);
    // Opened by itself it has no origin either, and no other site may put it into a frame.
    const path = `/endpoints/main/app-page?server=app&uri=${encodeURIComponent("ui://app/main")}`;
    const answer = await fetch(`${gateway.url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    expect(answer.headers.get("content-security-policy")).toMatch(
      /^sandbox allow-scripts; .*frame-ancestors 'self'$/,
    );
    expect((await gateway.api("GET", path.replace("ui%3A", "file%3A"))).status).toBe(422);
    expect((await gateway.api("GET", path.replace("=app", "=fix"))).status).toBe(404);
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

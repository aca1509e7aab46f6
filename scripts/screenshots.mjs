// Takes the screenshots in docs/console/, with Chromium, from a real gateway with the demo servers.
// node scripts/screenshots.mjs   (needs chromium on the PATH, or METAMCP_CHROMIUM)
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const home = mkdtempSync(join(tmpdir(), "metamcp-pictures-"));
const program =
  process.env.METAMCP_CHROMIUM ??
  process.env.PATH.split(delimiter)
    .map((folder) => join(folder, "chromium"))
    .find(existsSync);
if (!program) throw new Error("there is no chromium: install it, or give METAMCP_CHROMIUM");

await import("./setup.mjs");
const gateway = spawn(
  process.execPath,
  [join(root, "dist/metamcp.js"), "serve", "--port", "0", "--import", "demo/mcp.json"],
  { cwd: root, env: { ...process.env, METAMCP_HOME: home }, stdio: ["ignore", "ignore", "pipe"] },
);
try {
  const link = await printedLink();
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  await takePictures(browser, link);
  await browser.close();
} finally {
  gateway.kill("SIGTERM");
  await new Promise((resolve) => gateway.once("close", resolve));
  rmSync(home, { recursive: true, force: true });
}

/** The setup link, which the gateway prints to stderr at its first start. */
function printedLink() {
  let text = "";
  return new Promise((resolve, reject) => {
    gateway.stderr.on("data", (chunk) => {
      text += chunk;
      const [link] = /http\S+\/setup\?code=\S+/.exec(text) ?? [];
      if (link) resolve(link);
    });
    gateway.once("close", () => reject(new Error(text)));
  });
}

async function takePictures(browser, link) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(link);
  await page.getByLabel("Your e-mail address").fill("ada@example.org");
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  await makeTraffic(page, new URL(link).origin);
  const picture = async (name, path, prepare = async () => {}) => {
    await page.goto(new URL(path, link).href);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await prepare();
    await page.locator(".skeleton, [aria-busy=true]").first().waitFor({ state: "detached" });
    await page.evaluate("scrollTo(0, 0)");
    await page.screenshot({ path: join(root, `docs/console/${name}.png`) });
  };
  await picture("overview", "/", () =>
    page
      .getByRole("row", { name: /default/ })
      .first()
      .waitFor(),
  );
  await picture("servers", "/servers", () => page.getByText("filesystem").first().waitFor());
  await picture("tools", "/tools", () => page.getByText("get-sum", { exact: true }).first().waitFor());
  await picture("endpoint", "/endpoints/default?tab=preview", () =>
    page.getByText("A client sees about").waitFor(),
  );
  await picture("try", "/try?endpoint=default", async () => {
    await page.getByText("get-sum", { exact: true }).first().click();
    await page.getByRole("textbox", { name: /^a/ }).fill("20");
    await page.getByRole("textbox", { name: /^b/ }).fill("22");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("The sum of 20 and 22 is 42.").first().waitFor();
  });
  await page.emulateMedia({ colorScheme: "dark" });
  await picture("traffic-dark", "/traffic", () => page.getByText("everything:get-sum").first().waitFor());
}

/** Makes calls with a client that has an API key. */
async function makeTraffic(page, origin) {
  const key = await page.evaluate(async () => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ name: "laptop of Ada", endpoints: "all" });
    return (await (await fetch("/api/v1/api-keys", { method: "POST", headers, body })).json()).key;
  });
  const client = new Client({ name: "example-client", version: "1.0.0" });
  const requestInit = { headers: { "X-API-Key": key } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${origin}/metamcp/default/mcp`), { requestInit }),
  );
  const call = (server, tool, args) =>
    client.callTool({ name: "mcp_call", arguments: { server, tool, args } });
  for (let n = 0; n < 12; n++) await call("everything", "get-sum", { a: n, b: 22 });
  await call("memory", "read_graph", {});
  await client.readResource({ uri: "demo://resource/static/document/features.md" });
  await call("everything", "no-such-tool", {});
  await client.callTool({ name: "mcp_discover", arguments: { query: "read a text file" } });
}

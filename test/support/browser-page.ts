/** Pages of the console in a real Chromium: one browser per process, which ends with it, and one context per test. Whatever a page complains about fails the test. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import type { Role } from "../../src/access/account.ts";
import { cookieIn, PASSWORD, plainly } from "./people.ts";
import type { TeamGateway } from "./team-gateway.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** METAMCP_CHROMIUM, or what is on the PATH. */
const PATH = process.env["METAMCP_CHROMIUM"] ?? found();

/** Why there are no tests in a browser here: `describe.skipIf(noBrowser)`. */
export const noBrowser: string | undefined =
  PATH === undefined
    ? "left out: there is no chromium on the PATH (apt-get install chromium, or METAMCP_CHROMIUM=/path/to/chromium)"
    : undefined;
if (noBrowser) process.stderr.write(`test/browser: ${noBrowser}\n`);

let browser: Promise<Browser> | undefined;

/** Opens an address in a context of its own: no cache, nothing of other tests, and no cookies but those given. */
export async function openPage(
  url: string,
  { cookie, ...options }: BrowserContextOptions & { readonly cookie?: string } = {},
): Promise<Page> {
  browser ??= launch();
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 860 }, ...options });
  context.setDefaultTimeout(20_000);
  if (cookie !== undefined) {
    const [name = "", value = ""] = cookie.split("=", 2);
    await context.addCookies([{ name, value, url: new URL(url).origin }]);
  }
  const page = await context.newPage();
  const { origin } = new URL(url);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => complaints.push(String(error.stack)));
  context.on("request", (request) => {
    const asked = new URL(request.url());
    if (asked.origin !== origin && asked.protocol !== "data:") complaints.push(`asked ${asked.origin}`);
  });
  allowed.set(page, []);
  onTestFinished(async () => {
    const expected = allowed.get(page) ?? [];
    await context.close();
    expect(complaints.filter((text) => !expected.some((pattern) => pattern.test(text)))).toEqual([]);
  });
  await page.goto(url);
  return page;
}

const allowed = new WeakMap<Page, RegExp[]>();

/** What the browser itself writes about answers that the test means to get. */
export function expectComplaint(page: Page, pattern: RegExp): void {
  allowed.get(page)?.push(pattern);
}

/** Opens a page as somebody with this role. */
export async function openAs(
  gateway: Pick<TeamGateway, "api" | "url">,
  role: Role,
  path = "/",
  options: BrowserContextOptions = {},
): Promise<Page> {
  invited += 1;
  const { body } = await gateway.api("POST", "/users", { email: `${role}-${invited}@example.org`, role });
  const code: string = body.invitation.url.split("/").at(-1);
  const entered = await plainly(gateway.url)("POST", `/invitations/${code}`, { password: PASSWORD });
  return await openPage(gateway.url + path, { ...options, cookie: cookieIn(entered) });
}

let invited = 0;

/** Fills the login form that is shown. */
export async function logIn(
  page: Page,
  { email, password }: { email: string; password: string },
): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
}

async function launch(): Promise<Browser> {
  // Root has no sandbox of Chromium's; the pages are our own.
  return await chromium.launch({ executablePath: PATH as string, args: ["--no-sandbox"] });
}

function found(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

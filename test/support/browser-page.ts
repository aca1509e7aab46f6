/** Opens pages in Chromium: one browser per process, which ends with it, and one context per page. Errors of a page, and requests to other hosts, fail the test. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import type { Role } from "../../src/access/account.ts";
import { apiClient, cookieIn, PASSWORD } from "./people.ts";
import type { TeamGateway } from "./team-gateway.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** METAMCP_CHROMIUM, or the first browser on the PATH. */
const CHROMIUM = process.env["METAMCP_CHROMIUM"] ?? findChromium();

/** Why the browser tests are skipped; undefined if they run. For `describe.skipIf(noBrowser)`. */
export const noBrowser: string | undefined =
  CHROMIUM === undefined
    ? "skipped: there is no chromium on the PATH (apt-get install chromium, or METAMCP_CHROMIUM=/path/to/chromium)"
    : undefined;
if (noBrowser) process.stderr.write(`test/browser: ${noBrowser}\n`);

let browser: Promise<Browser> | undefined;

/** Opens an address in a new context: no cache, no data of other tests, and no cookies except the given one. */
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
  const errors: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      errors.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => errors.push(String(error.stack)));
  context.on("request", (request) => {
    const target = new URL(request.url());
    if (target.origin !== origin && target.protocol !== "data:") errors.push(`request to ${target.origin}`);
  });
  allowed.set(page, []);
  onTestFinished(async () => {
    const expected = allowed.get(page) ?? [];
    await context.close();
    expect(errors.filter((text) => !expected.some((pattern) => pattern.test(text)))).toEqual([]);
  });
  await page.goto(url);
  return page;
}

const allowed = new WeakMap<Page, RegExp[]>();

/** Allows errors that match: those that the browser logs for answers the test provokes, and requests to other hosts. */
export function allowError(page: Page, pattern: RegExp): void {
  allowed.get(page)?.push(pattern);
}

/** Creates an account with this role and opens a page with its login. */
export async function openAs(
  gateway: Pick<TeamGateway, "api" | "url">,
  role: Role,
  path = "/",
  options: BrowserContextOptions = {},
): Promise<Page> {
  accounts += 1;
  const { body } = await gateway.api("POST", "/users", { email: `${role}-${accounts}@example.org`, role });
  const code: string = body.invitation.url.split("/").at(-1);
  const accepted = await apiClient(gateway.url)("POST", `/invitations/${code}`, { password: PASSWORD });
  return await openPage(gateway.url + path, { ...options, cookie: cookieIn(accepted) });
}

let accounts = 0;

/** Fills in and submits the login form of the page. */
export async function logIn(
  page: Page,
  { email, password }: { email: string; password: string },
): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
}

async function launch(): Promise<Browser> {
  // Chromium has no sandbox for root. The pages are trusted, because they are ours.
  return await chromium.launch({ executablePath: CHROMIUM as string, args: ["--no-sandbox"] });
}

function findChromium(): string | undefined {
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

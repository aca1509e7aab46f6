/**
 * Opens pages in Chromium: one browser per process, which ends with it, and one context per page. Errors of a
 * page, and requests to other hosts, fail the test.
 */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { atEnd } from "./shared.ts";

/** A headless shell takes a fifth of the time for a page, as it has no windows. */
const NAMES = [
  "chromium-headless-shell",
  "chrome-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];

/**
 * What a window of Chromium loads beside the page: suggestions for its address bar take as long as a page of
 * ours. Chromium counts only the last list, so that of Playwright is repeated as far as it matters here.
 */
const UNUSED = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "AimEnabled",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "PreloadTopChromeWebUI",
];

/** METAMCP_CHROMIUM, or the first browser on the PATH. */
const CHROMIUM = process.env["METAMCP_CHROMIUM"] ?? findChromium();

/** Why the browser tests are skipped; undefined if they run. For `describe.skipIf(noBrowser)`. */
export const noBrowser: string | undefined =
  CHROMIUM === undefined
    ? "skipped: there is no chromium on the PATH (apt-get install chromium, or METAMCP_CHROMIUM=/path/to/chromium)"
    : undefined;
if (noBrowser) process.stderr.write(`test/browser: ${noBrowser}\n`);

let browser: Promise<Browser> | undefined;

/**
 * Opens an address in a new context: no cache, no data of other tests, and no cookies except the given one.
 */
export async function openPage(
  url: string,
  { cookie, ...options }: BrowserContextOptions & { readonly cookie?: string } = {},
): Promise<Page> {
  browser ??= launch();
  const context = await (await browser).newContext({
    viewport: { width: 1280, height: 860 },
    reducedMotion: "reduce",
    ...options,
  });
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
  atEnd(async () => {
    const expected = allowed.get(page) ?? [];
    await context.close();
    expect(errors.filter((text) => !expected.some((pattern) => pattern.test(text)))).toEqual([]);
  });
  await page.goto(url);
  return page;
}

const allowed = new WeakMap<Page, RegExp[]>();

/**
 * Allows errors that match: those that the browser logs for answers the test provokes, and requests to other
 * hosts.
 */
export function allowError(page: Page, pattern: RegExp): void {
  allowed.get(page)?.push(pattern);
}

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
  const args = ["--no-sandbox", `--disable-features=${UNUSED.join()}`];
  return await chromium.launch({ executablePath: CHROMIUM as string, args });
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

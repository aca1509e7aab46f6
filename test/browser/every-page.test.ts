/**
 * Every page, drawer and dialog of the console, with and without data: accessibility in both themes,
 * keyboard, roles.
 */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violationsInBothThemes } from "../support/axe.ts";
import { allowError, noBrowser, openPage } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { type ConsoleView, checkViews, consoleViews } from "../support/console-views.ts";
import { FULL } from "../support/full.ts";
import { fullTeam } from "../support/full-team.ts";
import { shared } from "../support/shared.ts";
import { teamGateway } from "../support/team-gateway.ts";
import { temp } from "../support/temp.ts";

const EMPTY: readonly ConsoleView[] = [
  "/",
  "/servers",
  "/tools",
  "/try",
  "/namespaces",
  "/endpoints",
  "/traffic",
  "/sessions",
  "/audit",
  "/keys",
  "/people",
  "/requests",
  "/requests?tab=servers",
  "/history",
  "/settings",
  "/me",
].map((path) => ({ path }));

describe.skipIf(noBrowser)("every page", () => {
  const full = shared(fullTeam);

  test("has no serious accessibility violation with data, and no control that the Tab key cannot reach", {
    timeout: 300_000,
  }, async () => {
    const team = full();
    const page = await openConsole(team.gateway);
    let whole = true;
    const check = async ({ press }: ConsoleView) => {
      // The page below a dialog is checked as another view.
      const inDialog = (await page.locator("dialog[open]").count()) > 0;
      const violations = await violationsInBothThemes(page, inDialog ? "dialog[open]" : "html");
      if (press) return violations;
      const missed = await unreached(page, whole);
      whole = FULL;
      return [...violations, ...missed];
    };
    expect(await checkViews(page, consoleViews(team), check)).toEqual([]);
  });

  // A refused request is logged in the browser console, which fails the test.
  test("sends no request that the gateway refuses to an editor, a viewer or a member", {
    timeout: 180_000,
  }, async () => {
    const team = full();
    for (const role of ["editor", "viewer", "member"] as const) {
      const page = await openConsole(team.gateway, { role });
      const links = await page.evaluate<string[]>(
        "[...document.querySelectorAll('nav a')].map((one) => one.getAttribute('href'))",
      );
      expect(links.length, role).toBeGreaterThan(role === "member" ? 1 : 8);
      const views = consoleViews(team).filter(
        ({ path, press }) => !press && links.includes(/^\/[a-z]*/.exec(path)?.[0] ?? ""),
      );
      expect(await checkViews(page, views, () => forbidden(page)), role).toEqual([]);
    }
  });

  test("has no serious accessibility violation without data, nor before the login", {
    timeout: 120_000,
  }, async () => {
    const gateway = await teamGateway(temp());
    const page = await openConsole(gateway);
    expect(await checkViews(page, EMPTY, () => violationsInBothThemes(page))).toEqual([]);
    const { body } = await gateway.api("POST", "/users", { email: "new@example.org", role: "viewer" });
    const before = await openPage(`${gateway.url}/login`);
    allowError(before, /404/);
    const views = ["/login", "/setup?code=none", new URL(body.invitation.url).pathname, "/invitations/none"];
    expect(
      await checkViews(
        before,
        views.map((path) => ({ path })),
        () => violationsInBothThemes(before),
      ),
    ).toEqual([]);
  });
});

async function forbidden(page: Page): Promise<readonly string[]> {
  return await page.getByText("Your role cannot open this page").allTextContents();
}

/**
 * Begins behind the menu, which is the same on every page, and counts it as reached. A round ends there.
 */
const SKIP_MENU = `(() => {
  const main = document.querySelector("main");
  if (!main || document.querySelector("dialog[open]")) return;
  for (const one of document.querySelectorAll("button, a[href], input, summary, [tabindex='0']"))
    if (main.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING) one.setAttribute("data-reached", "");
  main.focus({ preventScroll: true });
})()`;

/**
 * Marks every element that gets the focus from now on. `window.round` is true when a marked one gets it
 * again. The last focused element does not count, because a date field has several Tab stops.
 */
const MARK = `(() => {
  for (const one of document.querySelectorAll("[data-reached]")) one.removeAttribute("data-reached");
  window.round = false;
  let last;
  const mark = (now) => {
    if (now !== last && now.hasAttribute("data-reached")) window.round = true;
    now.setAttribute("data-reached", "");
    last = now;
  };
  if (document.activeElement !== document.body) mark(document.activeElement);
  window.marking?.abort();
  window.marking = new AbortController();
  document.addEventListener("focusin", ({ target }) => mark(target), window.marking);
})()`;

/**
 * Returns the enabled controls without a mark, within the dialog if one is open. Radio buttons are excluded,
 * because a group has one Tab stop.
 */
const UNREACHED = `[...(document.querySelector("dialog[open]") ?? document)
  .querySelectorAll("button, a[href], input:not([type=radio]), select, textarea, summary, [tabindex='0']")]
  .filter((one) => !one.disabled && one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }))
  .filter((one) => one.getBoundingClientRect().width > 0 && !one.hasAttribute("data-reached"))
  .map((one) => one.outerHTML.slice(0, 120))`;

/** Elements that appear during the first round are reached in the second. */
async function unreached(page: Page, whole: boolean): Promise<readonly string[]> {
  const first = await unreachedInRound(page, whole);
  return first.length === 0 ? first : await unreachedInRound(page, true);
}

async function unreachedInRound(page: Page, whole: boolean): Promise<readonly string[]> {
  const [maxStops, atOnce] = [200, 10];
  await page.evaluate(MARK);
  if (!whole) await page.evaluate(SKIP_MENU);
  for (let stops = 0; stops < maxStops && !(await page.evaluate("window.round")); stops += atOnce)
    for (let n = 0; n < atOnce; n++) await page.keyboard.press("Tab");
  return await page.evaluate<string[]>(UNREACHED);
}

/** Every page, drawer and dialog of the console, with something on it and with nothing, for everybody and in both themes. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { faultsInBoth } from "../support/axe.ts";
import { expectComplaint, noBrowser, openPage } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { consoleViews, type View, walk } from "../support/console-views.ts";
import { fullTeam } from "../support/full-team.ts";
import { teamGateway } from "../support/team-gateway.ts";
import { temp } from "../support/temp.ts";

const EMPTY: readonly View[] = [
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
  test("has nothing serious that axe-core finds, with something on it", { timeout: 300_000 }, async () => {
    const team = await fullTeam();
    const page = await openConsole(team.gateway);
    const look = async () => {
      // What lies under it is looked at as a page of its own.
      const floats = (await page.locator("dialog[open]").count()) > 0;
      return await faultsInBoth(page, floats ? "dialog[open]" : "html");
    };
    expect(await walk(page, consoleViews(team), look)).toEqual([]);
  });

  test("is reached by keyboard, all that can be used on it", { timeout: 180_000 }, async () => {
    const team = await fullTeam();
    const page = await openConsole(team.gateway);
    const views = consoleViews(team).filter(({ press }) => !press);
    expect(await walk(page, views, () => unreached(page))).toEqual([]);
  });

  // A page that asks for what is refused writes so to its console, which fails the test.
  test("asks nothing that an editor, a viewer or a member is refused", { timeout: 180_000 }, async () => {
    const team = await fullTeam();
    for (const role of ["editor", "viewer", "member"] as const) {
      const page = await openConsole(team.gateway, { role });
      const own = await page.evaluate<string[]>(
        "[...document.querySelectorAll('nav a')].map((one) => one.getAttribute('href'))",
      );
      expect(own.length, role).toBeGreaterThan(role === "member" ? 1 : 8);
      const views = consoleViews(team).filter(
        ({ path, press }) => !press && own.includes(/^\/[a-z]*/.exec(path)?.[0] ?? ""),
      );
      expect(await walk(page, views, () => forbidden(page)), role).toEqual([]);
    }
  });

  test("has nothing serious with nothing on it, nor before anybody is logged in", {
    timeout: 120_000,
  }, async () => {
    const gateway = await teamGateway(temp());
    const page = await openConsole(gateway);
    expect(await walk(page, EMPTY, () => faultsInBoth(page))).toEqual([]);
    const { body } = await gateway.api("POST", "/users", { email: "new@example.org", role: "viewer" });
    const before = await openPage(`${gateway.url}/login`);
    expectComplaint(before, /404/);
    const views = ["/login", "/setup?code=none", new URL(body.invitation.url).pathname, "/invitations/none"];
    expect(
      await walk(
        before,
        views.map((path) => ({ path })),
        () => faultsInBoth(before),
      ),
    ).toEqual([]);
  });
});

async function forbidden(page: Page): Promise<readonly string[]> {
  return await page.getByText("Your role cannot open this page").allTextContents();
}

/** Marks what has the focus. True once it comes round to what had it before; a date has several stops of its own. */
const MARK = `(() => {
  const now = document.activeElement;
  const round = now !== window.lastFocus && now.hasAttribute("data-reached");
  if (now !== document.body) now.setAttribute("data-reached", "");
  window.lastFocus = now;
  return round;
})()`;

/** What could be used and was not marked, within the dialog if one is open. Of a group of choices only one is a stop. */
const UNREACHED = `[...(document.querySelector("dialog[open]") ?? document)
  .querySelectorAll("button, a[href], input:not([type=radio]), select, textarea, summary, [tabindex='0']")]
  .filter((one) => !one.disabled && one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }))
  .filter((one) => one.getBoundingClientRect().width > 0 && !one.hasAttribute("data-reached"))
  .map((one) => one.outerHTML.slice(0, 120))`;

const UNMARK = `for (const one of document.querySelectorAll("[data-reached]")) one.removeAttribute("data-reached")`;

/** What came while the first round was under way is reached in the second. */
async function unreached(page: Page): Promise<readonly string[]> {
  const first = await missedInRound(page);
  if (first.length === 0) return first;
  await page.evaluate(UNMARK);
  return await missedInRound(page);
}

async function missedInRound(page: Page): Promise<readonly string[]> {
  const most = 200;
  for (let stops = 0; stops < most && !(await page.evaluate(MARK)); stops++) await page.keyboard.press("Tab");
  return await page.evaluate<string[]>(UNREACHED);
}

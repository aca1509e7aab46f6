/**
 * Lists every page, drawer, tab and dialog of the console that an address or one action opens, for tests that
 * check all of them.
 */
import type { Page } from "playwright-core";
import type { FullTeam } from "./full-team.ts";
import { until } from "./until.ts";

export interface ConsoleView {
  readonly path: string;
  /** An action after the page has loaded. */
  readonly press?: (page: Page) => Promise<void>;
}

export function consoleViews({ ids, special: { server, tool, changed } }: FullTeam): readonly ConsoleView[] {
  const toolPage = `/tools/${encodeURIComponent(`${server}:${changed}`)}`;
  const tryQuery = new URLSearchParams({ endpoint: "main", server, tool });
  const tabs = (path: string, names: readonly string[]) =>
    names.map((tab) => ({ path: `${path}?tab=${tab}` }));
  const button = (name: string | RegExp) => async (page: Page) =>
    await page.getByRole("button", { name }).first().click();
  const summary = (text: string) => async (page: Page) =>
    await page.locator("summary", { hasText: text }).first().click();
  const row = async (page: Page) =>
    await page.locator("tbody tr[data-key] td:not(.table-select)").first().click();
  return [
    { path: "/" },
    { path: "/?start=1" },
    { path: "/", press: async (page) => await page.keyboard.press("Control+k") },
    { path: "/", press: async (page) => await page.keyboard.press("?") },
    { path: "/", press: button(/^Account/) },
    { path: "/?range=7d", press: summary("As a table") },
    { path: "/servers" },
    ...tabs(`/servers/${ids.files}`, ["state", "tools", "settings", "log", "calls"]),
    ...tabs(`/servers/${ids.broken}`, ["state", "log"]),
    {
      path: `/servers/${ids.files}`,
      async press(page) {
        await page.getByRole("button", { name: "More" }).click();
        await page.getByRole("menuitem", { name: "Delete …" }).click();
      },
    },
    { path: "/servers?add=paste" },
    { path: "/servers?add=find&find=weather" },
    { path: "/servers?add=form" },
    { path: "/tools" },
    {
      path: "/tools",
      // By keyboard, because on a narrow screen the head of a table is not visible.
      async press(page) {
        await page.getByRole("checkbox", { name: /select all/i }).focus();
        await page.keyboard.press("Space");
      },
    },
    ...tabs(toolPage, ["about", "override", "change"]),
    { path: "/try" },
    { path: `/try?${tryQuery}`, press: button(/^Call$/) },
    { path: "/namespaces" },
    { path: "/namespaces?new=1" },
    ...tabs(`/namespaces/${ids.namespace}`, ["tools", "servers", "settings"]),
    { path: "/endpoints" },
    { path: "/endpoints?new=1" },
    ...tabs(`/endpoints/${ids.endpoint}`, [
      "connect",
      "preview",
      "settings",
      "access",
      "pipeline",
      "matrix",
      "test",
    ]),
    { path: `/endpoints/${ids.endpoint}?tab=connect`, press: button("Create my key") },
    { path: `/endpoints/${ids.endpoint}?tab=matrix`, press: button(/: may$/) },
    {
      path: `/endpoints/${ids.endpoint}?tab=pipeline`,
      async press(page) {
        await button("Edit policy")(page);
        await button("Edit Rule 1")(page);
        await summary("matches")(page);
      },
    },
    { path: "/traffic" },
    { path: `/traffic/${ids.call}` },
    { path: "/sessions" },
    { path: "/sessions", press: row },
    { path: "/audit" },
    { path: "/audit", press: row },
    { path: "/keys" },
    { path: "/keys?new=1" },
    { path: `/keys/${ids.key}` },
    { path: `/keys/${ids.key}`, press: button("Rotate key") },
    { path: "/people" },
    { path: "/people?new=1" },
    { path: `/people/${ids.person}` },
    { path: "/requests" },
    { path: `/requests/${ids.approval}` },
    { path: "/requests?tab=servers" },
    { path: `/requests/${ids.request}?tab=servers` },
    { path: "/history" },
    { path: "/history", press: row },
    { path: "/replicas" },
    { path: "/settings" },
    { path: "/settings", press: button("Add webhook") },
    { path: "/me" },
  ];
}

/** Opens each view and runs `check` on it. Returns the faults with their view. */
export async function checkViews(
  page: Page,
  views: readonly ConsoleView[],
  check: (view: ConsoleView) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const faults: string[] = [];
  // What a press has opened may stay open at other addresses, so the next view is loaded anew.
  let untouched = false;
  for (const view of views) {
    const found: readonly string[] = await show(page, view, untouched).then(
      () => check(view),
      (error: Error) => [error.message],
    );
    untouched = !view.press && found.length === 0;
    faults.push(...found.map((fault) => `${view.path}${view.press ? ", pressed" : ""}: ${fault}`));
  }
  return faults;
}

/** Opens a view and waits until it has loaded. */
async function show(page: Page, { path, press }: ConsoleView, untouched: boolean): Promise<void> {
  if (untouched) await page.evaluate(follow(path));
  else await page.goto(new URL(path, page.url()).href);
  await page.getByRole("heading").first().waitFor();
  await waitUntilLoaded(page);
  if (!press) return;
  await press(page);
  await waitUntilLoaded(page);
}

/**
 * Goes to an address as a link does, which takes a fifth of the time for a new document. Resolves when the
 * new page has been drawn and has begun to load its data.
 */
function follow(path: string): string {
  return `new Promise((drawn) => {
    document.activeElement?.blur();
    history.pushState(null, "", ${JSON.stringify(path)});
    dispatchEvent(new PopStateEvent("popstate"));
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn)));
  })`;
}

async function waitUntilLoaded(page: Page): Promise<void> {
  await until(async () => (await page.locator(".skeleton, [aria-busy=true]").count()) === 0, {
    what: `all of ${page.url()}`,
  });
}

/** What axe-core finds wrong for people who see, hear or move otherwise. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What depends on colours; all else is the same in both themes. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/** What would keep somebody from using the page as it stands. */
async function faultsOf(page: Page, within: string, rules?: readonly string[]): Promise<readonly string[]> {
  // Evaluated by the browser's debugger: the page's own content security policy stays as it is.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(SOURCE);
  const options = {
    resultTypes: ["violations"],
    ...(rules && { runOnly: { type: "rule", values: rules } }),
  };
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify(within)}, ${JSON.stringify(options)})`,
  );
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n")}`,
  );
}

/** The same in the light and the dark theme. */
export async function faultsInBoth(page: Page, within = "html"): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    // Without motion, as a colour on its way to another is none of either theme.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const found = await faultsOf(page, within, colorScheme === "light" ? undefined : OF_COLOURS);
    faults.push(...found.map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}

export async function expectAccessible(page: Page, within = "html"): Promise<void> {
  expect(await faultsOf(page, within)).toEqual([]);
}

export async function expectAccessibleInBoth(page: Page, within?: string): Promise<void> {
  expect(await faultsInBoth(page, within)).toEqual([]);
}

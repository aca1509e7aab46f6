/** Checks the accessibility of a page with axe-core. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Rules that depend on colours. All other rules have the same result in both themes. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** Returns the serious and critical violations. */
async function violationsIn(
  page: Page,
  within: string,
  rules?: readonly string[],
): Promise<readonly string[]> {
  // Evaluated through the debugger protocol, so that the content security policy of the page can stay in
  // force.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(SOURCE);
  const options = {
    resultTypes: ["violations"],
    // Style sheets would be fetched again, for a rule that is off and one about audio.
    preload: false,
    ...(rules && { runOnly: { type: "rule", values: rules } }),
  };
  const { violations: found } = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify(within)}, ${JSON.stringify(options)})`,
  );
  const serious = found.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n")}`,
  );
}

/** Returns the violations in the light and the dark theme. */
export async function violationsInBothThemes(page: Page, within = "html"): Promise<readonly string[]> {
  const violations: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    // Without motion, because a colour in transition belongs to neither theme.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const found = await violationsIn(page, within, colorScheme === "light" ? undefined : COLOUR_RULES);
    violations.push(...found.map((violation) => `${colorScheme}: ${violation}`));
  }
  return violations;
}

export async function expectAccessible(page: Page, within = "html"): Promise<void> {
  expect(await violationsIn(page, within)).toEqual([]);
}

export async function expectAccessibleInBothThemes(page: Page, within?: string): Promise<void> {
  expect(await violationsInBothThemes(page, within)).toEqual([]);
}

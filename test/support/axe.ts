/** What axe-core finds wrong for people who see, hear or move otherwise. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Nothing that would keep anybody from using the page as it stands. */
export async function expectAccessible(page: Page, within = "html"): Promise<void> {
  // Evaluated by the browser's debugger: the page's own content security policy stays as it is.
  await page.evaluate(SOURCE);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify(within)}, { resultTypes: ['violations'] })`,
  );
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  expect(
    serious.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n")}`,
    ),
  ).toEqual([]);
}

/** In the light and the dark theme. */
export async function expectAccessibleInBoth(page: Page, within?: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // A colour on its way to another is none of either theme.
    await page.evaluate("Promise.allSettled(document.getAnimations().map(({ finished }) => finished))");
    await expectAccessible(page, within);
  }
}

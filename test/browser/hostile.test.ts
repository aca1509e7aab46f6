/** Text of others on every page: it runs nothing, asks nobody, turns nothing around and breaks no page. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { consoleViews, walk } from "../support/console-views.ts";
import { fullTeam, type Words } from "../support/full-team.ts";

const MARKUP = `<img src=x onerror=alert(1)><script>alert(2)</script><a href="https://evil.example/">link</a>`;
const TURNED = "\u202eturned\u2067around\u200f";
const CONTROLS = "\u0007\u001b[31mred\u0001\u0085\u200b\ufeff";
const LONG = "w".repeat(10_000);

const HOSTILE: Words = {
  name: (plain) => `${plain} <img src=x onerror=alert(1)>${TURNED}${"n".repeat(128)}`.slice(0, 128),
  text: (plain) => `${plain} ${MARKUP}${TURNED}${CONTROLS}${LONG}`,
};

/** What turns the text that follows it around: it must be shown, never be in effect. */
const TURNING = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/;

describe.skipIf(noBrowser)("hostile text", () => {
  test("does nothing but look odd, on any page, at 360 and 1280 pixels", { timeout: 300_000 }, async () => {
    const team = await fullTeam(HOSTILE);
    const page = await openConsole(team.gateway);
    const ran: string[] = [];
    page.on("dialog", (dialog) => {
      ran.push(dialog.message());
      void dialog.dismiss();
    });
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await walk(page, consoleViews(team), () => faultsOf(page, width))).toEqual([]);
    }
    expect(ran).toEqual([]);
  });

  test("the policy forbids what is inline, and everything of others", async () => {
    const { gateway } = await fullTeam();
    const policy = (await fetch(gateway.url)).headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("style-src 'self';");
  });
});

/** Answers what is wrong with what the page shows. Evaluated in the browser. */
const LOOK = `(room, turning) => {
  const found = [];
  const { scrollWidth } = document.scrollingElement;
  if (scrollWidth > room) found.push("the page is " + scrollWidth + " pixels wide");
  for (const one of document.querySelectorAll("dialog[open], .drawer-content, [popover]"))
    if (one.scrollWidth > one.clientWidth + 1)
      found.push(one.className + " is " + one.scrollWidth + " of " + one.clientWidth + " pixels wide");
  if (document.querySelector('img[src="x"], script:not([src]), a[href^="https://evil"]'))
    found.push("markup became elements");
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.parentElement;
    // A field, a choice and an isolated part turn nothing but themselves around; what is for the ear is not seen.
    if (at.closest("bdi, textarea, option, .for-screen-readers")) continue;
    if (turning.test(node.textContent)) found.push("turned around in " + at.outerHTML.slice(0, 60));
  }
  return [...new Set(found)];
}`;

async function faultsOf(page: Page, width: number): Promise<readonly string[]> {
  return await page.evaluate<string[]>(`(${LOOK})(${width}, ${TURNING})`);
}

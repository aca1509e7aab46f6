/**
 * Hostile text on every page: it runs no script, sends no request, reverses no other text and breaks no
 * layout.
 */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { checkViews, consoleViews } from "../support/console-views.ts";
import { fullTeam, type TextVariant } from "../support/full-team.ts";
import { teamGateway } from "../support/team-gateway.ts";
import { temp } from "../support/temp.ts";

const MARKUP = `<img src=x onerror=alert(1)><script>alert(2)</script><a href="https://evil.example/">link</a>`;
const REVERSED = "\u202eturned\u2067around\u200f";
const CONTROLS = "\u0007\u001b[31mred\u0001\u0085\u200b\ufeff";
const LONG = "w".repeat(10_000);

const HOSTILE: TextVariant = {
  name: (plain) => `${plain} <img src=x onerror=alert(1)>${REVERSED}${"n".repeat(128)}`.slice(0, 128),
  text: (plain) => `${plain} ${MARKUP}${REVERSED}${CONTROLS}${LONG}`,
};

/** Characters that reverse the text after them. They must be shown, and must not take effect. */
const BIDI_CONTROLS = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/;

describe.skipIf(noBrowser)("hostile text", () => {
  test("is shown as plain text on every page, at 360 and 1280 pixels", { timeout: 300_000 }, async () => {
    const team = await fullTeam(HOSTILE);
    const page = await openConsole(team.gateway);
    const ran: string[] = [];
    page.on("dialog", (dialog) => {
      ran.push(dialog.message());
      void dialog.dismiss();
    });
    const resize = (width: number) => page.setViewportSize({ width, height: 800 });
    const check = async () => {
      const narrow = await faultsOf(page, 360);
      await resize(1280);
      const wide = await faultsOf(page, 1280);
      await resize(360);
      return [...narrow, ...wide];
    };
    await resize(360);
    expect(await checkViews(page, consoleViews(team), check)).toEqual([]);
    expect(ran).toEqual([]);
  });

  test("the content security policy forbids inline code and other hosts", async () => {
    const gateway = await teamGateway(temp());
    const policy = (await fetch(gateway.url)).headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("style-src 'self';");
  });
});

/** Returns the faults of the shown page. Evaluated in the browser. */
const FIND_FAULTS = `(width, bidiControls) => {
  const found = [];
  const { scrollWidth } = document.scrollingElement;
  if (scrollWidth > width) found.push("the page is " + scrollWidth + " pixels wide");
  for (const one of document.querySelectorAll("dialog[open], .drawer-content, [popover]"))
    if (one.scrollWidth > one.clientWidth + 1)
      found.push(one.className + " is " + one.scrollWidth + " of " + one.clientWidth + " pixels wide");
  if (document.querySelector('img[src="x"], script:not([src]), a[href^="https://evil"]'))
    found.push("markup became elements");
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.parentElement;
    // A field, an option and an isolated element reverse only themselves. Text for screen readers is not
    // visible.
    if (at.closest("bdi, textarea, option, .for-screen-readers")) continue;
    if (bidiControls.test(node.textContent)) found.push("reversed text in " + at.outerHTML.slice(0, 60));
  }
  return [...new Set(found)];
}`;

async function faultsOf(page: Page, width: number): Promise<readonly string[]> {
  return await page.evaluate<string[]>(`(${FIND_FAULTS})(${width}, ${BIDI_CONTROLS})`);
}

/**
 * The components of the console in a browser: accessibility at several widths, keyboard control, hostile
 * text.
 */
import type { Locator, Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { expectAccessible } from "../support/axe.ts";
import { logIn, noBrowser, openPage } from "../support/browser-page.ts";
import { FULL } from "../support/full.ts";
import { PASSWORD } from "../support/people.ts";
import { atEnd, shared } from "../support/shared.ts";
import { teamGateway } from "../support/team-gateway.ts";
import { teamPerson } from "../support/team-person.ts";
import { temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const EMAIL = "member@example.org";

const WINDOW = { width: 1280, height: 860 };

/** One page for all tests, as each uses another sample. */
async function open(): Promise<Page> {
  const gateway = await teamGateway(temp());
  await teamPerson(gateway, "member", { email: EMAIL });
  const page = await openPage(`${gateway.url}/components`, {
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
    viewport: WINDOW,
  });
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  atEnd(() => expect(dialogs).toEqual([]));
  await logIn(page, { email: EMAIL, password: PASSWORD });
  await page.getByRole("heading", { name: "Components" }).waitFor();
  return page;
}

/** Returns the light-theme variant of a sample. */
function sample(page: Page, name: string): Locator {
  return page.getByRole("region", { name, exact: true }).locator('[data-theme="light"]');
}

const rowNames = (rows: Locator) => rows.locator("td:nth-child(2)").allTextContents();

const POLL = { timeout: 20_000 };

describe.skipIf(noBrowser)("components", () => {
  const opened = shared(open);

  // Every sample is shown in both themes, independent of the theme of the page.
  test.each(FULL ? [360, 1280, 2560] : [360, 1280])(
    "are accessible and fit the page at %i pixels",
    { timeout: 180_000 },
    async (width) => {
      const page = opened();
      onTestFinished(() => page.setViewportSize(WINDOW));
      await page.setViewportSize({ width, height: 1000 });
      await page.emulateMedia({ colorScheme: width === 1280 ? "dark" : "light" });
      await page.reload();
      await page.getByRole("heading", { name: "Components" }).waitFor();
      await expectAccessible(page);
      // With reduced motion nothing is animated, not even the mark of a busy button.
      expect(await page.evaluate("document.getAnimations().length")).toBe(0);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    },
  );

  test("show untrusted text as plain text with visible control characters", async () => {
    const page = opened();
    const status = sample(page, "Status");
    await status.getByText("<script>alert(2)</script>").waitFor();
    await status.getByTitle("Invisible character U+202E").waitFor();
    expect(await page.locator('img[src="x"], .samples script').count()).toBe(0);
    expect(await sample(page, "Result of a tool").locator('a[href^="javascript:"]').count()).toBe(0);
  });

  test("a table supports the keyboard (move, select, select ranges, open), sorting and search", async () => {
    const page = opened();
    const part = sample(page, "Table");
    const grid = part.getByRole("grid", { name: "Servers" });
    const rows = grid.locator("tbody tr");
    await expect.poll(() => rowNames(rows), POLL).toContainEqual("filesystem");
    await grid.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    await part.getByText("3 selected").waitFor();
    await part.getByRole("button", { name: "Restart 3" }).waitFor();
    await page.keyboard.press("Control+a");
    await part.getByText("5 selected").waitFor();
    await page.keyboard.press("Escape");
    await part.getByText("5 selected").waitFor({ state: "detached" });
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await expect.poll(() => rows.last().getAttribute("aria-current"), POLL).toBe("true");
    await grid.getByRole("button", { name: "Server", exact: true }).click();
    expect((await rowNames(rows)).filter((name) => name.length < 20)).toEqual([
      "filesystem",
      "github",
      "memory",
      "playwright",
    ]);
    await part.getByRole("searchbox").fill("token expired");
    await expect.poll(() => rowNames(rows), POLL).toEqual(["github"]);
    await part.getByText("1 of 5").waitFor();
  });

  test("a table with 5,000 rows renders only visible rows, and all rows can be reached, found and selected", async () => {
    const page = opened();
    const part = sample(page, "Long table");
    const grid = part.getByRole("grid", { name: "Tools" });
    await expect.poll(() => grid.getAttribute("aria-rowcount"), POLL).toBe("5001");
    expect(await grid.locator("tbody tr[data-key]").count()).toBeLessThan(120);
    await grid.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("End");
    await grid.getByText("_4999", { exact: false }).waitFor();
    expect(await grid.locator("tbody tr[data-key]").count()).toBeLessThan(120);
    await part.getByRole("searchbox").fill("delete pages server-7");
    const shown = Number(
      /^(\d+) of 5.000$/.exec((await part.locator(".table-count").textContent()) ?? "")?.[1],
    );
    expect(shown).toBeGreaterThan(10);
    await part.getByRole("checkbox", { name: "Select all rows shown" }).check();
    await part.getByText(`${shown} selected`).waitFor();
    await part.getByRole("searchbox").fill("");
    await expect.poll(() => grid.getAttribute("aria-rowcount"), POLL).toBe("5001");
    await part.getByText(`${shown} selected`).waitFor();
  });

  test("new rows of a live table wait while the pointer is on the table", async () => {
    const page = opened();
    const part = sample(page, "Live table");
    const rows = part.getByRole("grid", { name: "Calls" }).locator("tbody tr");
    await rows.nth(2).scrollIntoViewIfNeeded();
    const [first, third] = [await rows.first().textContent(), await rows.nth(2).textContent()];
    await part.getByRole("button", { name: "Let calls arrive" }).focus();
    await rows.nth(2).hover();
    const top = async () => (await part.getByRole("grid", { name: "Calls" }).boundingBox())?.y ?? 0;
    const before = await top();
    await page.keyboard.press("Enter");
    const news = part.getByRole("button", { name: /^\d+ new$/ });
    await news.waitFor();
    // It stands above the head of the table, and moves nothing.
    const box = await news.boundingBox();
    expect([await top(), (box?.y ?? 0) + (box?.height ?? 0) <= before]).toEqual([before, true]);
    expect([await rows.first().textContent(), await rows.nth(2).textContent()]).toEqual([first, third]);
    await news.click();
    await until(async () => (await rows.first().textContent()) !== first, { what: "the rows that waited" });
  });

  test("dialogs, drawers and menus take the focus and restore it", async () => {
    const page = opened();
    const part = sample(page, "Dialog, drawer, toast");
    const openDialog = part.getByRole("button", { name: "Open dialog" });
    await openDialog.click();
    const dialog = page.getByRole("dialog", { name: "Delete server github?" });
    await expectFocus(page, "Keep it");
    await expectAccessible(page, "dialog");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await expectFocus(page, "Open dialog");

    await part.getByRole("button", { name: "Open drawer" }).click();
    const drawer = page.getByRole("dialog", { name: "github" });
    await drawer.getByRole("tab", { name: "About" }).focus();
    await page.keyboard.press("ArrowRight");
    await drawer.getByRole("tabpanel").getByText("tools").waitFor();
    await expectAccessible(page, "dialog");
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    await expectFocus(page, "Open drawer");

    await sample(page, "Menu").getByRole("button", { name: "Actions", exact: true }).focus();
    await page.keyboard.press("ArrowDown");
    await page.getByRole("menuitem", { name: "Restart" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("d");
    await expectFocus(page, "Delete server");
    await page.keyboard.press("Escape");
    await expectFocus(page, "Actions");

    await part.getByRole("button", { name: "Say done" }).click();
    await page.getByText("Server github updated.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Rolled back.").waitFor();
  });

  test("a JSON tree supports the keyboard and copies values with all digits", async () => {
    const page = opened();
    const part = sample(page, "JSON tree");
    const tree = part.getByRole("tree", { name: "Result" });
    await tree.getByText("12345678901234567890").waitFor();
    await tree.getByRole("treeitem").first().focus();
    await page.keyboard.press("ArrowDown");
    const bar = part.locator(".json-bar").first();
    await bar.getByText("id", { exact: true }).waitFor();
    await bar.getByRole("button", { name: "Copy value" }).click();
    await bar.getByRole("button", { name: "Copied" }).waitFor();
    await expect
      .poll(() => page.evaluate("navigator.clipboard.readText()"), POLL)
      .toBe("12345678901234567890");
    await tree.getByText("labels").first().click();
    await bar.getByText("items[0].labels", { exact: true }).waitFor();
    const labels = tree.getByRole("treeitem", { name: /^labels/ }).first();
    await expect.poll(() => labels.getAttribute("aria-expanded"), POLL).toBe("false");
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => labels.getAttribute("aria-expanded"), POLL).toBe("true");
    await page.keyboard.press("ArrowRight");
    await bar.getByText("items[0].labels[0]", { exact: true }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => labels.getAttribute("aria-expanded"), POLL).toBe("false");

    const many = part.getByRole("tree", { name: "Items" });
    await expect.poll(() => many.getByRole("treeitem").count(), POLL).toBe(51);
    await many.getByRole("button", { name: "Show 50 more" }).click();
    await expect.poll(() => many.getByRole("treeitem").count(), POLL).toBe(101);
  });

  test("a form and its JSON view have the same values, and problems are shown at their fields", async () => {
    const page = opened();
    const form = sample(page, "Form from a schema");
    await form.getByRole("button", { name: "Check" }).click();
    await form.getByRole("textbox", { name: "owner" }).and(page.locator("[aria-invalid]")).waitFor();
    await form.getByRole("textbox", { name: "owner" }).fill("ada");
    await form.getByRole("textbox", { name: "limit" }).fill("101");
    await form.getByRole("combobox", { name: "state" }).selectOption("closed");
    await form.getByRole("button", { name: "Add labels" }).click();
    await form.getByRole("textbox", { name: "labels 1" }).fill("bug");
    await form.getByRole("checkbox", { name: "assignee is null" }).check();
    await form.getByRole("button", { name: "Check" }).click();
    await form.getByRole("alert").getByText("At most 100.").first().waitFor();
    await form.getByRole("textbox", { name: "limit" }).fill("12345678901234567890");
    await form.getByRole("button", { name: "JSON" }).click();
    const json = form.getByRole("textbox", { name: "Arguments as JSON" });
    expect(JSON.parse(await json.inputValue())).toEqual({
      owner: "ada",
      draft: false,
      limit: 12_345_678_901_234_567_000,
      state: "closed",
      labels: ["bug"],
      assignee: null,
    });
    await expect.poll(() => json.inputValue(), POLL).toContain("12345678901234567890");
    await json.fill('{"owner": "grace", "draft": true, "extra": {"kept": 1.10}, "limit": 7');
    await expect.poll(() => form.getByRole("button", { name: "Form" }).isDisabled(), POLL).toBe(true);
    await json.fill('{"owner": "grace", "draft": true, "extra": {"kept": 1.10}, "limit": 7}');
    await form.getByRole("button", { name: "Form" }).click();
    await expect.poll(() => form.getByRole("textbox", { name: "owner" }).inputValue(), POLL).toBe("grace");
    await expect.poll(() => form.getByRole("switch", { name: "draft" }).isChecked(), POLL).toBe(true);
    await form.getByRole("button", { name: "Check" }).click();
    await form.getByText('{"owner":"grace","draft":true,"extra":{"kept":1.10},"limit":7}').waitFor();
  });

  test("a form supports unions, nested lists, additional members, files and any JSON", async () => {
    const page = opened();
    const form = sample(page, "Form from an odd schema");
    await form.getByRole("combobox", { name: "target" }).selectOption("An address");
    await form.getByRole("textbox", { name: "url" }).fill("https://example.com");
    await form.getByRole("group", { name: "Item 1" }).getByRole("button", { name: "Add and" }).click();
    await form.getByRole("textbox", { name: "field" }).nth(2).fill("deep");
    await form.getByRole("textbox", { name: "New entry" }).fill("x-one");
    await page.keyboard.press("Enter");
    await form.getByRole("textbox", { name: "x-one" }).fill("1");
    await form.locator('input[type="file"]').setInputFiles({
      name: "a.png",
      mimeType: "image/png",
      buffer: Buffer.from("hello"),
    });
    await form.getByText("a.png, 5").waitFor();
    await form.getByRole("textbox", { name: "whatever" }).fill('{"any": [1.50]}');
    await form.getByRole("button", { name: "Check" }).click();
    await form
      .getByText(
        '{"version":2,"target":{"url":"https://example.com"},"filter":{"field":"name","and":[{"field":"age","and":[{"field":"deep"}]}]},"headers":{"accept":"text/html","x-one":"1"},"picture":"aGVsbG8=","whatever":{"any": [1.50]}}',
      )
      .waitFor();
  });

  test("a log scrolls with its end, and stops while somebody reads", async () => {
    const page = opened();
    const part = sample(page, "Log");
    const lines = part.getByRole("log", { name: "Log of github" });
    await part.getByRole("button", { name: "Let lines arrive" }).click();
    // Lines keep their indentation.
    const space = "getComputedStyle(document.querySelector('.log-line bdi')).whiteSpaceCollapse";
    expect(await page.evaluate(space)).toBe("preserve");
    await lines.hover();
    await page.mouse.wheel(0, -400);
    await part.getByText(/^\d+ new lines?$/).waitFor();
    const at = await lines.evaluate((box) => box.scrollTop);
    await part.getByText(/^[2-9] new lines$/).waitFor();
    expect(await lines.evaluate((box) => box.scrollTop)).toBe(at);
    await part.getByRole("button", { name: "Go to the end" }).click();
    await part.getByText("Following").first().waitFor();
  });
});

/** Waits until the focused element has this text. */
async function expectFocus(page: Page, text: string): Promise<void> {
  const hasFocus = async () =>
    (await page.evaluate("document.activeElement.textContent.slice(0, 80)")) === text;
  await until(hasFocus, { what: `the focus on "${text}"` });
}

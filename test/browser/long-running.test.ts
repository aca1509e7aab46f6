/** A console with much data that stays open for long: no long task, no growing memory. */
import type { CDPSession, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { noBrowser } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { FULL } from "../support/full.ts";
import { type TeamGateway, teamClient, teamGateway } from "../support/team-gateway.ts";
import { fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

/** Rounds per half of the test. 60 correspond to about an hour of events. */
const ROUNDS = Number(process.env["METAMCP_CONSOLE_ROUNDS"] ?? (FULL ? 2 : 1));
/** The page Traffic keeps this many calls. Its memory grows until then. */
const SHOWN_CALLS = 1_000;
/**
 * The longest task of the page may take this many times as long as the fixed work, which takes about 50 ms on
 * a quiet machine. A sort that compares every row with every other takes about 80 times as long.
 */
const MAX_RATIO = 20;
const PAGES = ["Overview", "Servers", "Tools", "Endpoints", "Traffic", "Audit", "Keys", "History"];

async function team(...flags: string[]): Promise<TeamGateway> {
  const gateway = await teamGateway(temp());
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "fix", ...fixture(...flags) });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  await api("POST", "/endpoints", { name: "main", namespaces: ["team"], surface: "aggregate" });
  await api("POST", "/mcp-servers/fix/connect");
  return gateway;
}

describe.skipIf(noBrowser)("a console under load", () => {
  test("scrolls, sorts and filters 5,000 tools without a task much longer than fixed work beside it", async () => {
    const gateway = await team("--tools", "5000");
    const page = await openConsole(gateway);
    await page.evaluate(`
      globalThis.longTasks = [];
      new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
        .observe({ type: "longtask" });
      const numbers = Float64Array.from({ length: 500_000 }, (_, n) => Math.sin(n));
      // The browser sorts them itself, so the time does not depend on what it has compiled so far.
      globalThis.fixedWork = () => {
        const began = performance.now();
        numbers.slice().sort();
        return performance.now() - began;
      };
    `);
    // A busy machine slows the page and the fixed work alike, so the page does both in turn.
    const fixed: number[] = [];
    const work = async () => void fixed.push(await page.evaluate<number>("fixedWork()"));
    await work();
    await page.getByRole("link", { name: "Tools" }).click();
    const rows = page.getByRole("grid").locator("tbody tr[data-key]");
    await page.getByText("fix:tool_0", { exact: true }).waitFor();
    // Only visible rows are rendered.
    expect(await rows.count()).toBeLessThan(100);
    // The placeholder of the other rows must not change the width of the columns.
    const frame = await page.evaluate<number>("document.querySelector('.table-frame').clientWidth");
    const cells = await page.evaluate<number>(
      "[...document.querySelector('tr[data-key]').children].reduce((sum, cell) => sum + cell.offsetWidth, 0)",
    );
    expect(cells).toBeCloseTo(frame, -1);
    for (let step = 1; step <= 20; step++) {
      await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight * ${step / 20})`);
      await page.evaluate("new Promise(requestAnimationFrame)");
      await work();
    }
    await page.getByText("fix:tool_999", { exact: true }).waitFor();
    await page.getByPlaceholder("Search tools").pressSequentially("tool_4321");
    await until(async () => (await rows.count()) === 1, { what: "one row" });
    await work();
    await page.getByPlaceholder("Search tools").fill("");
    await page.getByRole("columnheader", { name: "Tool", exact: true }).getByRole("button").click();
    await work();
    await page.getByRole("checkbox", { name: /select all/i }).check();
    await page.getByText(/^5.0\d\d selected$/).waitFor();
    await work();
    const tasks = await page.evaluate<number[]>("longTasks");
    const [longest, unit] = [Math.max(0, ...tasks), Math.max(...fixed)];
    const description = `5,000 tools: the longest task took ${Math.round(longest)} ms, fixed work ${Math.round(unit)} ms`;
    process.stderr.write(`${description}\n`);
    expect(longest / unit, description).toBeLessThan(MAX_RATIO);
  });

  test("does not leak memory while calls, changes and page switches go on", {
    timeout: 60_000 + ROUNDS * 120_000,
  }, async () => {
    const gateway = await team();
    const key = await gateway.key();
    const page = await openConsole(gateway, { path: "/traffic" });
    await page.getByText("live", { exact: true }).waitFor();
    const devtools = await page.context().newCDPSession(page);
    await call(gateway, key, SHOWN_CALLS);
    await round(gateway, key, page);
    const begin = await memoryOf(devtools);
    for (let n = 0; n < ROUNDS; n++) await round(gateway, key, page);
    const half = await memoryOf(devtools);
    for (let n = 0; n < ROUNDS; n++) await round(gateway, key, page);
    const end = await memoryOf(devtools);
    process.stderr.write(`console held open: ${JSON.stringify({ begin, half, end })}\n`);
    // Cached answers are evicted after some time. A leak would add as much in the second half as in the
    // first.
    expect(end.heap - half.heap).toBeLessThan(1_000_000 + Math.max(0, half.heap - begin.heap) / 2);
    expect(end.nodes).toBeLessThan(half.nodes * 1.2 + 200);
    expect(end.listeners).toBeLessThan(half.listeners * 1.2 + 50);
  });
});

/** Opens every page while calls and changes happen, and returns to the page Traffic. */
async function round(gateway: TeamGateway, key: string, page: Page): Promise<void> {
  for (const name of PAGES) {
    await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await call(gateway, key, 40);
    const { status } = await gateway.api("PATCH", "/mcp-servers/fix", {
      description: `${name} ${Math.random()}`,
    });
    expect(status).toBe(200);
  }
  await page.getByRole("navigation").getByRole("link", { name: "Traffic" }).click();
  await page.getByRole("grid").getByText("fix:echo").first().waitFor();
}

/** Connects a client, makes the calls, and disconnects. */
async function call(gateway: TeamGateway, key: string, times: number): Promise<void> {
  const client = await teamClient(gateway, "main", { key });
  for (let done = 0; done < times; done += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => client.call("fix__echo", { message: `${done + n}` })),
    );
  await client.close();
}

async function memoryOf(devtools: CDPSession) {
  for (let n = 0; n < 3; n++) await devtools.send("HeapProfiler.collectGarbage");
  const { usedSize } = await devtools.send("Runtime.getHeapUsage");
  const { nodes, jsEventListeners } = await devtools.send("Memory.getDOMCounters");
  return { heap: usedSize, nodes, listeners: jsEventListeners };
}

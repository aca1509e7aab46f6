import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { SpanPages } from "./span-pages.ts";

const PAGE_BYTES = 1_048_576;

function pagesTo(answer: () => Promise<number>) {
  const clock = new ManualClock();
  const sent: string[] = [];
  const send = async (pages: readonly { readonly bytes: Buffer }[]): Promise<number> => {
    sent.push(...pages.map(({ bytes }) => bytes.toString()));
    return await answer();
  };
  const pages = new SpanPages({ clock, log: silentLog, send });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    clock.advance(0);
    await new Promise(setImmediate);
  };
  return { pages, sent, pass };
}

test("spans go together after a while, at once where a page is full", async () => {
  const { pages, sent, pass } = pagesTo(() => Promise.resolve(0));
  pages.add('{"a":1},{"b":2}', 2);
  pages.add('{"c":"ü"}', 1);
  await pass(249);
  expect(sent).toEqual([]);
  await pass(1);
  expect(sent).toEqual(['{"a":1},{"b":2},{"c":"ü"}']);
  pages.add("x".repeat(PAGE_BYTES), 1);
  await pass(0);
  expect(sent).toHaveLength(2);
  pages.add("last", 1);
  await pages.close();
  expect(sent.at(-1)).toBe("last");
  expect(pages.lost).toBe(0);
});

test("what is lost is counted by span: refused, not taken, or too many", async () => {
  const refused = pagesTo(() => Promise.resolve(1));
  refused.pages.add("a,b", 2);
  await refused.pass(250);
  expect(refused.pages.lost).toBe(1);
  const failing = pagesTo(() => Promise.reject(new Error("never")));
  failing.pages.add("a,b", 2);
  await failing.pass(250);
  expect(failing.pages.lost).toBe(2);
  const hanging = pagesTo(() => new Promise(() => {}));
  for (let page = 0; page < 20; page++) {
    hanging.pages.add("a", 1_000);
    await hanging.pass(250);
  }
  expect(hanging.pages.lost).toBe(3_000);
});

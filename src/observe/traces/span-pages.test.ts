import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { SpanPages } from "./span-pages.ts";

const MB = 1_048_576;

function pagesTo(answer: () => Promise<number>) {
  const clock = new ManualClock();
  const sent: string[] = [];
  const send = async (pages: readonly { readonly bytes: Buffer }[]): Promise<number> => {
    const refused = await answer();
    // Reads the pages as late as possible.
    sent.push(...pages.map(({ bytes }) => bytes.toString()));
    return refused;
  };
  const pages = new SpanPages({ clock, log: silentLog, send });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    clock.advance(0);
    await new Promise(setImmediate);
  };
  const add = (text: string, spans: number): void => {
    pages.page.add(text);
    pages.added(spans);
  };
  return { pages, add, sent, pass };
}

test("spans are sent together after a delay, or immediately if a page is full", async () => {
  const { pages, add, sent, pass } = pagesTo(() => Promise.resolve(0));
  add('{"a":1},{"b":2}', 2);
  add(',{"c":"ü"}', 1);
  await pass(249);
  expect(sent).toEqual([]);
  await pass(1);
  expect(sent).toEqual(['{"a":1},{"b":2},{"c":"ü"}']);
  add("x".repeat(MB), 1);
  await pass(0);
  expect(sent).toHaveLength(2);
  add("last", 1);
  await pages.close();
  expect(sent.at(-1)).toBe("last");
  expect(pages.lost).toBe(0);
});

test("waiting pages do not change while more spans are written", async () => {
  const letters = [..."abcdefgh"];
  const answers: (() => void)[] = [];
  const { add, sent, pass } = pagesTo(() => new Promise((resolve) => void answers.push(() => resolve(0))));
  // Some pages are full, some are nearly empty.
  for (const [n, letter] of letters.entries()) {
    const times = n % 3 === 2 ? 1 : 64;
    for (let part = 0; part < times; part++) add(letter.repeat(MB / 64), 1);
    await pass(250);
    if (n > 3) answers.shift()?.();
    await pass(0);
  }
  while (sent.length < letters.length) {
    answers.shift()?.();
    await pass(0);
  }
  expect(sent.map((text) => new Set(text).size)).toEqual(letters.map(() => 1));
  expect(sent.map(([letter]) => letter)).toEqual(letters);
});

test("lost spans are counted: rejected, failed, or beyond the limit", async () => {
  const refused = pagesTo(() => Promise.resolve(1));
  refused.add("a,b", 2);
  await refused.pass(250);
  expect(refused.pages.lost).toBe(1);
  const failing = pagesTo(() => Promise.reject(new Error("never")));
  failing.add("a,b", 2);
  await failing.pass(250);
  expect(failing.pages.lost).toBe(2);
  const hanging = pagesTo(() => new Promise(() => {}));
  for (let page = 0; page < 20; page++) {
    hanging.add("a".repeat(MB), 1_000);
    await hanging.pass(250);
  }
  expect(hanging.pages.lost).toBe(4_000);
});

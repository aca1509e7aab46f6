import { expect, test } from "vitest";
import type { Raw } from "../../kernel/raw.ts";
import type { CallSignal } from "../../kernel/signal.ts";
import { callOf, RESULT, raw, testPipeline } from "../layer.fixture.ts";

/** The server answers when the test says so. */
async function held(options: object) {
  const answers: (() => void)[] = [];
  const made = await testPipeline([{ use: "concurrency", ...options }], () => {
    return new Promise<Raw>((resolve) => answers.push(() => resolve(raw(RESULT))));
  });
  return { ...made, answer: () => answers.shift()?.() };
}

test("max calls run, queued calls follow in order, and further calls are refused", async () => {
  const { call, outcome, seen, answer } = await held({ max: 2, queue: 1 });
  const [first, second, third] = [
    call({ args: { n: 1 } }),
    call({ args: { n: 2 } }),
    call({ args: { n: 3 } }),
  ];
  await expect(call()).rejects.toMatchObject({ code: "rate_limited", context: { retryAfterMs: 1_000 } });
  expect(seen).toHaveLength(2);
  answer();
  await first;
  await expect.poll(() => seen.length).toBe(3);
  expect(String(seen[2]?.params)).toContain('"n":3');
  answer();
  answer();
  await Promise.all([second, third]);
  const again = outcome();
  await expect.poll(() => seen.length).toBe(4);
  answer();
  expect(await again).toMatch(/done/);
});

test("a call that is cancelled in the queue leaves it without taking a slot", async () => {
  const { call, seen, answer } = await held({ max: 1, queue: 1 });
  const running = call();
  const given = callOf();
  const waiting = call(given);
  (given.signal as CallSignal).abort(new Error("changed my mind"));
  await expect(waiting).rejects.toThrow("changed my mind");
  const next = call({ args: { n: 2 } });
  answer();
  await running;
  await expect.poll(() => seen.length).toBe(2);
  answer();
  await next;
});

test("each combination of user and tool has its own slots", async () => {
  const { outcome, call, answer } = await held({ max: 1, by: ["user", "tool"] });
  const waiting = call({ tool: "one:a" });
  expect(await outcome({ tool: "one:a" })).toBe("rate_limited");
  const other = call({ tool: "one:b" });
  const another = call({ tool: "one:a", principal: { id: "somebody" } });
  answer();
  answer();
  answer();
  await Promise.all([waiting, other, another]);
});

test("a failed call frees its slot", async () => {
  const { outcome } = await testPipeline([{ use: "concurrency", max: 1 }], () =>
    Promise.reject(new TypeError("broken")),
  );
  expect(await outcome()).toBe("broken");
  expect(await outcome()).toBe("broken");
});

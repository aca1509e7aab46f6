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

test("a caller who fills a common queue keeps nobody out, and only their own calls give way", async () => {
  const { call, seen, answer } = await held({ max: 1, queue: 4, by: "server" });
  const as = (id: string, n: number): Promise<string> =>
    call({ principal: { id }, args: { id, n } }).then(
      () => `${id}${n}`,
      (error: { code: string }) => error.code,
    );
  const greedy = [0, 1, 2, 3, 4].map((n) => as("greedy", n));
  const modest = [as("modest", 1), as("modest", 2)];
  expect(await Promise.all(greedy.slice(3))).toEqual(["rate_limited", "rate_limited"]);
  // Both have two places now, so neither gets more.
  expect(await Promise.all([as("modest", 3), as("greedy", 5)])).toEqual(["rate_limited", "rate_limited"]);
  for (let n = 1; n <= 5; n++) {
    await expect.poll(() => seen.length).toBe(n);
    answer();
  }
  expect(await Promise.all([...greedy.slice(0, 3), ...modest])).toEqual([
    "greedy0",
    "greedy1",
    "greedy2",
    "modest1",
    "modest2",
  ]);
  const after = as("greedy", 6);
  await expect.poll(() => seen.length).toBe(6);
  answer();
  expect(await after).toBe("greedy6");
});

import { expect, test } from "vitest";
import { CallSignal, type Signal } from "./signal.ts";

test("CallSignal calls each listener once and in order, but none that was removed or added too late", () => {
  const signal = new CallSignal();
  const heard: string[] = [];
  const gone = (): void => void heard.push("gone");
  signal.addEventListener("abort", () => heard.push("first"));
  signal.addEventListener("abort", gone);
  signal.addEventListener("abort", () => heard.push("second"));
  signal.removeEventListener("abort", gone);

  signal.abort("enough");
  signal.abort("again");
  signal.addEventListener("abort", () => heard.push("late"));
  expect(heard).toEqual(["first", "second"]);
  expect([signal.aborted, signal.reason]).toEqual([true, "enough"]);
});

test("an AbortSignal is a Signal", () => {
  const controller = new AbortController();
  const signal: Signal = controller.signal;
  let heard = false;
  signal.addEventListener("abort", () => {
    heard = true;
  });
  controller.abort();
  expect(heard).toBe(true);
});

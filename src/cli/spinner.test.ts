import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pauseSpinner, spin } from "./spinner.ts";

const written: string[] = [];
const { isTTY } = process.stderr;
beforeEach(() => {
  vi.useFakeTimers();
  process.stderr.isTTY = true;
  vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  process.stderr.isTTY = isTTY;
});

test("a paused spinner writes nothing and continues after resuming", () => {
  const spinner = spin("working …");
  vi.advanceTimersByTime(1_000);
  expect(written.join("")).toContain("working …");
  const resume = pauseSpinner();
  written.length = 0;
  vi.advanceTimersByTime(1_000);
  expect(written).toEqual([]);
  resume();
  vi.advanceTimersByTime(1_000);
  expect(written.join("")).toContain("working …");
  spinner.stop();
  written.length = 0;
  vi.advanceTimersByTime(1_000);
  expect(written).toEqual([]);
});

import { expect, test } from "vitest";
import { limitFailure } from "../../sandbox/limit-failure.ts";
import { errorOf } from "./outcome.ts";

test("errorOf names the limit, what to do, and the source line", () => {
  const error = { ...limitFailure("calls", 100), line: 2 };
  const outcome = {
    error,
    logs: [],
    calls: [],
    durationMs: 1,
    unsafe: false,
    enforced: [],
    backend: "wasm" as const,
  };
  expect(
    errorOf({ ...outcome, value: undefined }, "const a = 1;\n  await go();", "mcp_execute")?.message,
  ).toBe("Limit of tool calls in one run: do the rest in another run (calls: 100): await go();");
});

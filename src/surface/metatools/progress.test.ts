import { expect, test } from "vitest";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { Progress } from "./progress.ts";

function open(meta: object | undefined) {
  const sent: { method: string; params: unknown }[] = [];
  const uplink = {
    notify: (method: string, params: Raw | undefined) =>
      void sent.push({ method, params: params && fromRaw(params) }),
    request: () => Promise.resolve(EMPTY_OBJECT),
  };
  const progress = new Progress(uplink, meta && toRaw(meta));
  const inner = progress.uplink((report, params) => progress.forward(report, params));
  const child = (value: unknown): void =>
    inner.notify("notifications/progress", toRaw({ progressToken: "t", progress: value, x: 1 }));
  return {
    sent,
    progress,
    inner,
    child,
    values: () => sent.map(({ params }) => (params as { progress: number }).progress),
  };
}

test("progress of a child is forwarded as written, except values that do not increase", () => {
  const { progress, child, values, sent } = open({ progressToken: "t" });
  progress.report({ progress: 0 });
  for (const value of [0, 0.5, 0.5, 0.2, "much", null, 3]) child(value);
  progress.report({ progress: 1, total: 1 });
  expect(values()).toEqual([0, 0.5, 3]);
  expect(sent[1]?.params).toEqual({ progressToken: "t", progress: 0.5, x: 1 });
  expect(progress.forwarded).toBe(true);
});

test("without a valid progress token no progress is sent, and other notifications are forwarded", () => {
  const { progress, inner, sent } = open(undefined);
  progress.report({ progress: 0 });
  inner.notify("notifications/message", toRaw({ level: "info" }));
  expect(sent).toEqual([{ method: "notifications/message", params: { level: "info" } }]);
  for (const progressToken of [null, true, {}, ["t"]]) {
    const { progress: unwanted, sent: none } = open({ progressToken });
    unwanted.report({ progress: 1 });
    expect([unwanted.wanted, none]).toEqual([false, []]);
  }
  const numeric = open({ progressToken: 12345678901234567000 });
  numeric.progress.report({ progress: 1, message: "m" });
  numeric.inner.notify("notifications/message", toRaw({ level: "info" }));
  expect(numeric.sent).toHaveLength(2);
});

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
  const back = progress.wayBack((report, params) => progress.pass(report, params));
  const child = (value: unknown): void =>
    back.notify("notifications/progress", toRaw({ progressToken: "t", progress: value, x: 1 }));
  return {
    sent,
    progress,
    back,
    child,
    values: () => sent.map(({ params }) => (params as { progress: number }).progress),
  };
}

test("what a child reports passes as it is, but never backwards", () => {
  const { progress, child, values, sent } = open({ progressToken: "t" });
  progress.report({ progress: 0 });
  for (const value of [0, 0.5, 0.5, 0.2, "much", null, 3]) child(value);
  progress.report({ progress: 1, total: 1 });
  expect(values()).toEqual([0, 0.5, 3]);
  expect(sent[1]?.params).toEqual({ progressToken: "t", progress: 0.5, x: 1 });
  expect(progress.heard).toBe(true);
});

test("without a token nobody is told, and other notifications pass", () => {
  const { progress, back, sent } = open(undefined);
  progress.report({ progress: 0 });
  back.notify("notifications/message", toRaw({ level: "info" }));
  expect(sent).toEqual([{ method: "notifications/message", params: { level: "info" } }]);
  for (const progressToken of [null, true, {}, ["t"]]) {
    const { progress: wanted, sent: told } = open({ progressToken });
    wanted.report({ progress: 1 });
    expect([wanted.wanted, told]).toEqual([false, []]);
  }
  const asked = open({ progressToken: 12345678901234567000 });
  asked.progress.report({ progress: 1, message: "m" });
  asked.back.notify("notifications/message", toRaw({ level: "info" }));
  expect(asked.sent).toHaveLength(2);
});

import { expect, test } from "vitest";
import type { Config } from "../config/spec.ts";
import { type Call, newTrail } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { Permissions } from "../kernel/permissions.ts";
import { CallSignal } from "../kernel/signal.ts";
import { callOf, RESULT, raw } from "../middleware/layer.fixture.ts";
import type { Examples } from "./examples.ts";
import { serverCalls } from "./server-calls.ts";

/** A call whose beginning must be recorded, at a server that counts its calls. */
function recordedCall(more: Partial<Call> = {}) {
  let stored = (): void => {};
  let failed = (_error: Error): void => {};
  let [held, sent] = [0, 0];
  const trail = newTrail();
  trail.begin = () =>
    new Promise((resolve, reject) => {
      [stored, failed] = [resolve, reject];
    });
  const handle = serverCalls({
    handle: async () => {
      sent += 1;
      return raw(RESULT);
    },
    examples: { enabled: () => false } as Examples,
    config: () => ({ servers: new Map() }) as unknown as Config,
    clock: new ManualClock(),
  });
  const hold = () => {
    held += 1;
    return () => {
      held -= 1;
    };
  };
  const answer = handle({ ...callOf(), hold, trail, ...more });
  answer.catch(() => {});
  return {
    answer,
    stored: () => stored(),
    failed: () => failed(new Error("away")),
    seen: () => ({ held, sent }),
  };
}

test("nothing is sent before the beginning is recorded, and the times of the call pause meanwhile", async () => {
  const { answer, stored, seen } = recordedCall();
  expect(seen()).toEqual({ held: 1, sent: 0 });
  stored();
  expect(String(await answer)).toContain("done");
  expect(seen()).toEqual({ held: 0, sent: 1 });
});

test("a call whose beginning cannot be recorded is not sent", async () => {
  const { answer, failed, seen } = recordedCall();
  failed();
  await expect(answer).rejects.toThrow("away");
  expect(seen()).toEqual({ held: 0, sent: 0 });
});

test("a call is judged again, or ended, if that changed while its record was written", async () => {
  const permissions = new Permissions();
  permissions.isCurrent = () => false;
  const changed = recordedCall({ permissions });
  changed.stored();
  await expect(changed.answer).rejects.toThrow("The call is checked again.");
  expect(permissions.next()).toBe(true);

  const signal = new CallSignal();
  const cancelled = recordedCall({ signal });
  signal.abort(new Error("cancelled"));
  cancelled.stored();
  await expect(cancelled.answer).rejects.toThrow("cancelled");
  expect([changed.seen().sent, cancelled.seen().sent]).toEqual([0, 0]);
});

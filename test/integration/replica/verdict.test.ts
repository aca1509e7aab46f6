/** When a replica may call another one dead. The rows are real, the time of the judge is not. */
import { expect, test } from "vitest";
import { ManualClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { BEAT_MS } from "../../../src/replica/liveness.ts";
import { Members } from "../../../src/replica/members.ts";
import type { Replicas } from "../../../src/store/replicas.ts";
import { onPostgres } from "../../support/replicas.ts";
import { postgresDatabase } from "../../support/test-databases.ts";

onPostgres("verdicts about replicas", () => {
  test("one that was stopped, or whose store hung, waits for the beats of the others", async () => {
    const database = await postgresDatabase();
    const store = await database.open();
    const replicas = store.replicas as Replicas;
    const clock = new ManualClock();
    const nothing = (): void => {};
    const members = new Members({
      self: { id: "judge", publicUrl: undefined, version: "1" },
      store,
      replicas,
      clock,
      log: silentLog,
      about: () => ({}),
      check: nothing,
      onRemoved: () => Promise.resolve(),
      othersReachStore: () => Promise.resolve(false),
      onCame: nothing,
      onGone: nothing,
      onChange: nothing,
    });
    await replicas.join({ id: "other", address: undefined, publicUrl: undefined, version: "1" });
    await members.join(undefined);
    const verdict = () => members.judge("other", { refuses: false, since: clock.now() });
    await database.sql("UPDATE metamcp_replicas SET seen = seen - interval '1 minute' WHERE id = 'other'");
    clock.advance(60_000);
    expect(await verdict()).toBe("unknown");
    clock.advance(BEAT_MS);
    expect(await verdict()).toBe("unknown");
    clock.advance(BEAT_MS);
    expect(await verdict()).toBe("gone");
    await members.leave();
  });
});

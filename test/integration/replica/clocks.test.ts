/** Records of replicas whose clocks are two hours apart expire at one time: that of the database. */
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { StoredWebhook } from "../../../src/gateway/objects.ts";
import { ManualClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Notices } from "../../../src/serving/notify/notices.ts";
import type { NewRecord, Store } from "../../../src/store/store.ts";
import { onPostgres } from "../../support/replicas.ts";
import { postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const HOUR = 3_600_000;
const LIFE_MS = 60_000;

onPostgres("replicas with other clocks", () => {
  test("what one stores for a minute the other has for a minute", async () => {
    const where = await postgresDatabase();
    const [behind, ahead] = [() => Date.now() - HOUR, () => Date.now() + HOUR];
    const [early, late] = [await where.open({ now: behind }), await where.open({ now: ahead })];
    await early.records.put({ kind: "code", id: "early", value: 1, expiresAt: behind() + LIFE_MS });
    await late.records.put({ kind: "code", id: "late", value: 1, expiresAt: ahead() + LIFE_MS });
    for (const [store, now] of [
      [early, behind],
      [late, ahead],
    ] as const)
      for (const { expiresAt = 0 } of await store.records.list("code"))
        expect(Math.abs(expiresAt - now() - LIFE_MS)).toBeLessThan(LIFE_MS / 2);
    expect(await late.records.list("code")).toHaveLength(2);
    await expect(
      late.records.put({ kind: "code", id: "early", value: 2, ifVersion: 0 }),
      "what is held is not free",
    ).rejects.toMatchObject({ code: "conflict" });

    await where.sql(
      "UPDATE metamcp_records SET expires_at = (extract(epoch FROM now()) * 1000)::bigint WHERE kind = 'code'",
    );
    for (const store of [early, late]) expect(await store.records.list("code")).toEqual([]);
  });

  test("a message of one that waits for its next attempt is not late for the other", async () => {
    const where = await postgresDatabase();
    const [behind, ahead] = [() => Date.now() - HOUR, () => Date.now() + HOUR];
    const one = await noticesOf(await where.open({ now: behind }), behind);
    one.notices.tell({
      id: "1",
      event: "audit.lost",
      text: "",
      path: "/",
      object: { kind: "gateway", name: "" },
    });
    const [waiting] = await until(async () => {
      const found = await one.notices.deliveries();
      return found[0]?.attempts === 1 ? found : undefined;
    });
    expect(Date.parse(waiting?.nextAt ?? "") - behind()).toBeLessThan(LIFE_MS);

    const other = await noticesOf(await where.open({ now: ahead }), ahead);
    other.clock.advance(LIFE_MS);
    await until(() => other.lists.length === 1);
    await other.lists[0];
    await turn();
    expect(other.puts).toBe(0);
    // Nobody has made the next attempt for a minute.
    await where.sql(`UPDATE metamcp_records SET expires_at = expires_at - ${LIFE_MS} WHERE kind = 'notice'`);
    other.clock.advance(LIFE_MS);
    await until(async () => (await other.notices.deliveries())[0]?.attempts === 2);
  });
});

/** The webhooks of a gateway with this clock. The only one answers nothing. */
async function noticesOf(store: Store, time: () => number) {
  const clock = new ManualClock();
  const seen = { lists: [] as Promise<unknown>[], puts: 0 };
  const list = store.records.list.bind(store.records);
  const put = store.records.put.bind(store.records);
  Object.assign(store.records, {
    list: (...asked: Parameters<typeof list>) => {
      const found = list(...asked);
      seen.lists.push(found);
      return found;
    },
    put: (record: NewRecord) => {
      seen.puts += 1;
      return put(record);
    },
  });
  const webhook = {
    name: "w",
    url: "http://127.0.0.1:9/",
    events: ["audit.lost"],
    format: "json",
    allowPrivate: true,
  };
  const notices = new Notices({
    store,
    clock,
    time,
    log: silentLog,
    webhooks: () => [webhook as unknown as StoredWebhook],
    vault: { open: String },
    url: () => "http://127.0.0.1",
  });
  return Object.assign(seen, { notices, clock });
}

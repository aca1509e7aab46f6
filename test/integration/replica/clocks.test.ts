/** Records of replicas whose clocks are two hours apart expire at one time: that of the database. */
import { expect, test } from "vitest";
import { onPostgres } from "../../support/replicas.ts";
import { postgresDatabase } from "../../support/test-databases.ts";

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
});

/**
 * Who may run a server that may run only once: the statements that decide it, without gateways around them.
 */
import { expect, test } from "vitest";
import type { Placements } from "../../../src/store/placements.ts";
import { onPostgres } from "../../support/replicas.ts";
import { postgresDatabase } from "../../support/test-databases.ts";

const MINUTE = 60_000;

onPostgres("the right to run a server", () => {
  test("one of many has it, renews it alone and in time, and gives or returns only its own", async () => {
    const database = await postgresDatabase();
    const table = (await database.open()).placements as Placements;
    const taken = await Promise.all(["one", "two", "three"].map((by) => table.take("s", by, MINUTE)));
    const [holder, ...others] = new Set(taken.map((row) => row.holder));
    expect(others).toEqual([]);
    const [mine, other] = holder === "one" ? ["one", "two"] : [String(holder), "one"];

    const [row] = taken;
    expect(await table.renew(["s"], mine, 2 * MINUTE)).toMatchObject([{ holder: mine, renewed: true }]);
    expect((await table.take("s", other, MINUTE)).until).toBeGreaterThan((row?.until ?? 0) + MINUTE / 2);
    for (const asked of [await table.renew([], mine, MINUTE), await table.renew(["s"], other, MINUTE)])
      expect(asked).toEqual([{ server: "s", holder: mine, until: expect.any(Number), renewed: false }]);
    await table.release("s", other);
    await table.give("s", other, "four", MINUTE);
    expect((await table.take("s", other, MINUTE)).holder).toBe(mine);

    await database.sql("UPDATE metamcp_placements SET until = clock_timestamp() - interval '1 ms'");
    expect(await table.renew(["s"], mine, MINUTE)).toMatchObject([{ holder: mine, renewed: false }]);
    expect((await table.take("s", other, MINUTE)).holder).toBe(other);
    expect(await table.renew(["s"], mine, MINUTE)).toMatchObject([{ holder: other, renewed: false }]);
    await table.give("s", other, mine, MINUTE);
    expect((await table.take("s", other, MINUTE)).holder).toBe(mine);
    await table.release("s", mine);
    expect((await table.take("s", other, MINUTE)).holder).toBe(other);
  });
});

/** What clients said at initialize is in the store as long as sessions may need it. */
import { expect, test } from "vitest";
import { ManualClock } from "../../../src/kernel/clock.ts";
import { asRaw } from "../../../src/kernel/raw.ts";
import { SaidTexts } from "../../../src/replica/said-texts.ts";
import type { Replicas } from "../../../src/store/replicas.ts";
import { onPostgres } from "../../support/replicas.ts";
import { postgresDatabase } from "../../support/test-databases.ts";

onPostgres("texts of clients", () => {
  test("those in use are stored again, and the others forgotten after a month", async () => {
    const database = await postgresDatabase();
    const statements: string[] = [];
    const { replicas } = await database.open({ onStatement: (sql) => statements.push(sql) });
    const table = replicas as Replicas;
    const clock = new ManualClock();
    const texts = new SaidTexts(table, clock);
    const raw = (text: string) => asRaw(Buffer.from(JSON.stringify(text)));
    const [used, unused] = [raw("used"), raw("unused")];
    const digests = [await texts.keep(used), await texts.keep(unused)];
    await database.sql("UPDATE metamcp_clients SET at = at - interval '31 days'");
    clock.advance(31 * 86_400_000);
    expect(await texts.keep(used)).toBe(digests[0]);
    statements.length = 0;
    await texts.keep(used);
    expect(statements).toEqual([]);
    await table.sweep();
    const left = await Promise.all(digests.map((digest) => table.said(digest)));
    expect(left).toEqual(['"used"', undefined]);
  });
});

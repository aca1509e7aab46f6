/** What replicas send to the database for sessions of clients that are known, and for requests: nothing. */
import { expect, test } from "vitest";
import { cutProxy } from "../../support/cut-proxy.ts";
import { RawSession, replicas } from "../../support/replica-team.ts";
import { onPostgres } from "../../support/replicas.ts";
import { countStatements } from "../../support/statements.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { postgresAddress, postgresDatabase } from "../../support/test-databases.ts";

const SESSIONS = 40;
/** Sent by timers, however many requests there are. */
const BY_TIMER =
  /metamcp_(replicas|record_kinds|sum\w*|audit|meta)\b|^(BEGIN|COMMIT|SET|LISTEN|NOTIFY|SELECT pg_)/;
/** What sessions, limits and rules would need. */
const PER_REQUEST = /metamcp_(clients|sessions|places|rates|reads|tries|objects)/;

onPostgres("replicas", () => {
  test("need no statement for a session, a list or a call, forwarded or not", async () => {
    const database = await postgresDatabase();
    const counted = countStatements();
    const proxy = await cutProxy(postgresAddress(), counted.watch);
    const url = new URL(database.url);
    url.host = `127.0.0.1:${proxy.port}`;
    const team = await replicas(2, undefined, { database: { ...database, url: url.href } });
    const [one, two] = team.replicas as [TeamProcess, TeamProcess];
    const use = async (): Promise<void> => {
      const session = await new RawSession(team.key).open(one);
      for (const at of [one, two]) {
        expect((await session.request(at, "tools/list")).status).toBe(200);
        expect(await session.call(at, "fix__echo", { message: "x" })).toBe("x");
      }
    };
    await use();
    const before = counted.all.length;
    for (let n = 0; n < SESSIONS; n++) await use();
    const sent = counted.all.slice(before);
    const rest = sent.filter((text) => !BY_TIMER.test(text));
    expect(rest.filter((text) => PER_REQUEST.test(text))).toEqual([]);
    // When keys were used is stored now and then.
    expect(rest.length).toBeLessThan(SESSIONS / 2);
  });
});

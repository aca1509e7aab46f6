/**
 * A gateway that is killed during a write: confirmed revisions are kept, revisions are complete, secrets can
 * be read, and no process is left.
 */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { FULL } from "../../support/full.ts";
import { gone } from "../../support/processes.ts";
import { Random } from "../../support/random-json.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { type TeamProcess, teamProcess } from "../../support/team-process.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";
import { noPostgres, postgresDatabase } from "../../support/test-databases.ts";

const ROUNDS = Number(process.env["METAMCP_KILLS"] ?? (FULL ? 3 : 2));
const SEED = Number(process.env["METAMCP_SEED"] ?? 20_260_101);
/** About the time from a request to its revision. */
const MAX_DELAY_MS = 60;

interface StoreSettings {
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const places: [string, () => Promise<StoreSettings>][] = [
  ["an embedded store", async () => ({ flags: [], env: {} })],
];
if (noPostgres === undefined)
  places.push([
    "a Postgres store",
    async () => {
      const { url, env } = await postgresDatabase();
      return { flags: ["--store", url], env };
    },
  ]);
else test.skip(`left out, because no Postgres answers: ${noPostgres}`, () => {});

/** All objects contain the number, so that half of a revision would be noticed. */
function documentOf(n: number, journal: string): object {
  const description = `${n}`;
  // The server does not end by itself when its stdin ends.
  const server = fixture("--journal", journal, "--ignore-eof");
  return {
    version: 1,
    servers: { fix: { ...server, env: { TOKEN: `secret ${n}` }, description } },
    namespaces: { team: { servers: { fix: {} }, description } },
    endpoints: { team: { namespaces: ["team"], surface: "aggregate", description } },
  };
}

/** Returns the number that all objects contain. */
async function numberIn({ api }: TeamProcess): Promise<number> {
  const { servers, namespaces, endpoints } = (await api("GET", "/config")).body;
  const numbers = [servers.fix, namespaces.team, endpoints.team].map(({ description }) =>
    Number(description),
  );
  expect(new Set(numbers).size, numbers.join()).toBe(1);
  return numbers[0] as number;
}

async function expectComplete(gateway: TeamProcess, confirmed: number, key: string): Promise<void> {
  const { api } = gateway;
  const n = await numberIn(gateway);
  expect([confirmed, confirmed + 1]).toContain(n);
  const all = (await api("GET", "/revisions?limit=500")).body.items as { n: number }[];
  expect(all.map((one) => one.n)).toEqual(all.map((_, i) => all.length - i));
  expect((await api("GET", "/audit/verify")).body).toMatchObject({ ok: true });
  const client = await teamClient(gateway, "team", { key });
  const { values } = JSON.parse(await client.call("fix__env", { names: ["TOKEN"] }));
  expect(values).toEqual({ TOKEN: `secret ${n}` });
  await client.close();
}

describe.each(places)(
  `a gateway on %s that is killed ${ROUNDS} times (METAMCP_SEED=${SEED})`,
  (_, database) => {
    test("keeps every confirmed revision completely and leaves no process behind", {
      timeout: 60_000 + ROUNDS * 20_000,
    }, async () => {
      const folder: Temp = temp();
      const journal = folder.journal();
      const where = await database();
      const random = new Random(SEED);
      let gateway = await teamProcess(folder, where);
      let confirmed = 0;
      for (let round = 1; round <= ROUNDS; round++) {
        for (let n = 0; n < 2; n++) {
          const document = documentOf(confirmed + 1, journal.file);
          const { status, body } = await gateway.api("POST", "/config/apply", { document });
          expect(status, JSON.stringify(body)).toBe(200);
          confirmed += 1;
        }
        const key = await gateway.key();
        const before = journal.pids();
        const last = gateway
          .api("POST", "/config/apply", { document: documentOf(confirmed + 1, journal.file) })
          .catch(() => undefined);
        await pause(random.int(MAX_DELAY_MS));
        await gateway.kill("SIGKILL");
        if ((await last)?.status === 200) confirmed += 1;

        gateway = await teamProcess(folder, where);
        await gone(before);
        await expectComplete(gateway, confirmed, key);
        confirmed = await numberIn(gateway);
      }
      expect(await gateway.kill("SIGTERM")).toBe(0);
      await gone(journal.pids());
    });
  },
);

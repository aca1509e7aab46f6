/**
 * Replicas whose Postgres hangs, restarts or is slow: sessions go on, at their owners and through others.
 * Those of a dead replica wait for the store, with 503 and not 404.
 */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { cutProxy } from "../../support/cut-proxy.ts";
import { noOwnPostgres, ownPostgres } from "../../support/own-postgres.ts";
import { RawSession, replicas, type Team } from "../../support/replica-team.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { wholeDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

/** `METAMCP_AWAY=30` for an outage of half a minute. Longer than it takes to call a silent replica dead. */
const OUTAGE_MS = Number(process.env["METAMCP_AWAY"] ?? 10) * 1_000;

type Two = readonly [TeamProcess, TeamProcess];

async function sessionAt(team: Team, at: TeamProcess): Promise<RawSession> {
  for (const gateway of team.replicas) await new RawSession(team.key).open(gateway);
  return await new RawSession(team.key).open(at);
}

/** Calls at both replicas in turn until it is stopped. Each call must be answered. */
class Load {
  answered = 0;
  #stopped = false;
  readonly #done: Promise<void>;

  constructor(session: RawSession, both: Two) {
    this.#done = this.#run(session, both);
    this.#done.catch(() => {});
  }

  async #run(session: RawSession, both: Two): Promise<void> {
    for (; !this.#stopped; this.answered++) {
      const message = `call ${this.answered}`;
      expect(await session.call(both[this.answered % 2] as TeamProcess, "fix__echo", { message })).toBe(
        message,
      );
      await pause(50);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
  }
}

function expectNobodyDead(both: Two): void {
  for (const { stderr } of both) expect(stderr).not.toMatch(/took this one for dead|a replica is dead/);
}

describe.skipIf(noOwnPostgres)(
  `replicas with a Postgres of their own${noOwnPostgres ? ` (left out: ${noOwnPostgres})` : ""}`,
  { timeout: 120_000 + OUTAGE_MS * 6 },
  () => {
    test.each(["hangs", "is stopped and started"] as const)("that %s: sessions go on", async (how) => {
      const postgres = await ownPostgres();
      const team = await replicas(2, undefined, { database: wholeDatabase(postgres.url) });
      const both = team.replicas as Two;
      const session = await sessionAt(team, both[0]);
      const load = new Load(session, both);
      if (how === "hangs") postgres.freeze();
      else await postgres.stop();
      // Not only calls from before the replicas missed the store.
      await pause(OUTAGE_MS / 2);
      const before = load.answered;
      await pause(OUTAGE_MS / 2);
      expect(load.answered).toBeGreaterThan(before + 5);
      if (how === "hangs") postgres.thaw();
      else await postgres.start();
      await until(async () => (await both[0].api("GET", "/replicas")).status === 200);
      // Long enough to call somebody dead wrongly.
      await pause(5_000);
      await load.stop();
      for (const { api } of both) expect((await api("GET", "/replicas")).body.items).toHaveLength(2);
      expectNobodyDead(both);
    });

    test("that is away when a replica dies: its sessions wait, and go on when the store is back", async () => {
      const postgres = await ownPostgres();
      const team = await replicas(2, undefined, { database: wholeDatabase(postgres.url) });
      const [one, two] = team.replicas as Two;
      const session = await sessionAt(team, one);
      await postgres.stop();
      await one.kill("SIGKILL");
      const refused = await session.request(two, "tools/list");
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([
        503,
        expect.stringMatching(/^\d+$/),
      ]);
      await postgres.start();
      await until(async () => (await session.request(two, "tools/list")).status === 200);
      expect(await session.call(two, "fix__echo", { message: "goes on" })).toBe("goes on");
    });

    test("that takes seconds for each statement: calls are slower, and none fails", async () => {
      const postgres = await ownPostgres();
      const proxy = await cutProxy({ host: "127.0.0.1", port: Number(new URL(postgres.url).port) });
      const url = new URL(postgres.url);
      url.port = String(proxy.port);
      const team = await replicas(2, undefined, { database: wholeDatabase(url.href) });
      const both = team.replicas as Two;
      const session = await sessionAt(team, both[0]);
      const slowing = setInterval(() => {
        proxy.stall();
        setTimeout(() => proxy.flow(), 2_500).unref();
      }, 2_600);
      const load = new Load(session, both);
      await pause(OUTAGE_MS);
      await load.stop();
      clearInterval(slowing);
      proxy.flow();
      expectNobodyDead(both);
    });
  },
);

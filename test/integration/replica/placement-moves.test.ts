/**
 * A server with placement "one" moves when its replica stops, dies, hangs or loses the database, and two of
 * its processes never run at once. METAMCP_KILLS sets how often the replica is killed.
 */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { cutProxy } from "../../support/cut-proxy.ts";
import { type PlacedTeam, placedTeam } from "../../support/placed-team.ts";
import { RawSession } from "../../support/replica-team.ts";
import { onPostgres, startReplica } from "../../support/replicas.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { until } from "../../support/until.ts";

const KILLS = Number(process.env["METAMCP_KILLS"] ?? 2);
const PATIENCE = { within: 50_000 };
/** Ends neither with its gateway nor with SIGTERM. */
const STUBBORN = { args: ["--ignore-eof"] };

/** The replica that runs the server. */
async function holder({ database, replicas }: PlacedTeam): Promise<TeamProcess> {
  const ids = new Map<string, TeamProcess>();
  for (const at of replicas) {
    const { body } = await at.api("GET", "/replicas");
    ids.set(body.items.find(({ self }: { self: boolean }) => self).id, at);
  }
  return await until(async () => {
    const [row] = await database.sql("SELECT holder FROM metamcp_placements");
    return row && ids.get(String(row["holder"]));
  });
}

function neverTwo({ journal }: PlacedTeam): void {
  expect(journal("start").flatMap(({ others }) => others)).toEqual([]);
  const keys = journal("call").flatMap(({ key }) => key ?? []);
  expect(new Set(keys).size).toBe(keys.length);
}

/** The process that answers a call, undefined if none does. */
async function servedBy(
  { journal }: PlacedTeam,
  session: RawSession,
  at: TeamProcess,
): Promise<number | undefined> {
  const asked = randomUUID();
  const answer = await session.call(at, "once__next", { key: asked });
  return /^\d+$/.test(answer) ? journal("call").find(({ key }) => key === asked)?.pid : undefined;
}

/** The newest process serves calls there, and it is another one than this. */
async function usesNew(team: PlacedTeam, at: TeamProcess, former: number | undefined): Promise<void> {
  const session = await new RawSession(team.key).open(at);
  await until(async () => {
    const pid = await servedBy(team, session, at);
    return pid !== undefined && pid !== former && pid === team.journal("start").at(-1)?.pid;
  }, PATIENCE);
}

/** Calls one after the other at a replica, each with a key of its own, until it is stopped. */
class Load {
  readonly answers: string[] = [];
  stopped = false;
  readonly #ended: Promise<void>;

  constructor(team: PlacedTeam, at: TeamProcess, name: string) {
    this.#ended = this.#run(team, at, name);
  }

  async #run({ key }: PlacedTeam, at: TeamProcess, name: string): Promise<void> {
    const session = await new RawSession(key).open(at);
    try {
      for (let n = 0; !this.stopped; n++)
        this.answers.push(await session.call(at, "once__next", { key: `${name} ${n}` }));
    } catch {
      // Its replica was killed.
    }
  }

  get served(): number {
    return this.answers.filter((answer) => /^\d+$/.test(answer)).length;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.#ended;
  }
}

onPostgres("a server that may run only once", () => {
  test("is passed on by a replica that stops, and no call fails", async () => {
    const team = await placedTeam(3, STUBBORN);
    const [one, two, three] = team.replicas as [TeamProcess, TeamProcess, TeamProcess];
    await (await new RawSession(team.key).open(one)).call(one, "once__next");
    const loads = [new Load(team, two, "two"), new Load(team, three, "three")];
    await until(() => loads.every(({ served }) => served > 5), PATIENCE);
    expect(await one.kill("SIGTERM")).toBe(0);
    const before = loads.map(({ served }) => served);
    await until(() => loads.every(({ served }, n) => served > (before[n] ?? 0) + 5), PATIENCE);
    for (const load of loads) await load.stop();

    expect(loads.flatMap(({ answers }) => answers).filter((answer) => !/^\d+$/.test(answer))).toEqual([]);
    expect(team.journal("start")).toHaveLength(2);
    neverTwo(team);
  });

  test("is taken up when its replica is killed, under load and again and again", {
    timeout: 60_000 * KILLS + 60_000,
  }, async () => {
    const team = await placedTeam(3, STUBBORN);
    for (let round = 0; round < KILLS; round++) {
      const loads = team.replicas.map((at, n) => ({ at, load: new Load(team, at, `${round} ${n}`) }));
      await until(() => loads.every(({ load }) => load.served > 5), PATIENCE);
      const victim = await holder(team);
      await victim.kill("SIGKILL");
      const rest = loads.filter(({ at }) => at !== victim).map(({ load }) => load);
      const before = rest.map(({ served }) => served);
      await until(() => rest.every(({ served }, n) => served > (before[n] ?? 0) + 5), PATIENCE);
      for (const load of rest) await load.stop();
      // What was under way is told so. Nothing else failed.
      const failed = rest.flatMap(({ answers }) => answers).filter((answer) => !/^\d+$/.test(answer));
      for (const answer of failed) expect(answer).toContain("may have");
      // The next call of each waits for the new process.
      expect(failed.length).toBeLessThanOrEqual(rest.length);
      team.replicas.splice(team.replicas.indexOf(victim), 1, await team.start());
    }
    expect(team.journal("start")).toHaveLength(KILLS + 1);
    neverTwo(team);
  });

  test("ends in time when its replica is stopped, which then uses the new one", async () => {
    const team = await placedTeam(2, STUBBORN);
    const [one, two] = team.replicas as [TeamProcess, TeamProcess];
    const session = await new RawSession(team.key).open(one);
    const former = await servedBy(team, session, one);
    expect(former).toBeDefined();
    process.kill(one.pid, "SIGSTOP");
    // On a busy machine the verdict on the stopped one can take longer than a request waits for it.
    await usesNew(team, two, former);
    process.kill(one.pid, "SIGCONT");
    await usesNew(team, one, former);
    expect(team.journal("start")).toHaveLength(2);
    neverTwo(team);
  });

  test("ends in time when its replica loses the database", async () => {
    const team = await placedTeam(1, STUBBORN);
    const [two] = team.replicas as [TeamProcess];
    const url = new URL(team.database.url);
    const proxy = await cutProxy({ host: url.hostname, port: Number(url.port || 5432) });
    url.port = String(proxy.port);
    const one = await startReplica(
      { url: url.href },
      { flags: ["--replica-address", "127.0.0.1:0", "--drain", "0"] },
    );
    const session = await new RawSession(team.key).open(one);
    const former = await servedBy(team, session, one);
    expect(former).toBeDefined();
    await proxy.cut();
    // Until its time is over the server still runs there, and is reached there.
    await usesNew(team, two, former);
    await proxy.mend();
    await usesNew(team, one, former);
    neverTwo(team);
  });

  test("does not start again if its replica cannot be reached but lives", async () => {
    const team = await placedTeam(2);
    const [one, two] = team.replicas as [TeamProcess, TeamProcess];
    const session = await new RawSession(team.key).open(one);
    expect(await session.call(one, "once__next")).toBe("1");
    await team.database.sql("UPDATE metamcp_replicas SET address = '127.0.0.1:1'");
    await until(async () => {
      const { body } = await two.api("GET", "/replicas");
      return body.items.every(({ address }: { address: string }) => address === "127.0.0.1:1");
    });
    const other = await new RawSession(team.key).open(two);
    expect(await other.call(two, "once__next")).toMatch(/cannot be reached from .* Nothing was done/);
    expect(await session.call(one, "once__next")).toMatch(/^\d+$/);
    expect(team.journal("start")).toHaveLength(1);
  });
});

/**
 * Replicas that disagree about who lives: one that was stopped and goes on, one that others cannot reach, one
 * whose clock is wrong.
 */
import { expect, test } from "vitest";
import { clockOff, HOUR } from "../../support/clock-off.ts";
import { cutProxy } from "../../support/cut-proxy.ts";
import { RawSession, replicas, type Team } from "../../support/replica-team.ts";
import { onPostgres, startReplica } from "../../support/replicas.ts";
import type { TeamProcess } from "../../support/team-process.ts";
import { postgresAddress, postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

type Two = readonly [TeamProcess, TeamProcess];

async function sessionAt(team: Team, at: TeamProcess): Promise<RawSession> {
  for (const gateway of team.replicas) await new RawSession(team.key).open(gateway);
  return await new RawSession(team.key).open(at);
}

async function ownersOf(team: Team): Promise<readonly Record<string, unknown>[]> {
  return await team.database.sql("SELECT owner FROM metamcp_sessions");
}

const idOf = async (gateway: TeamProcess): Promise<string> =>
  (await gateway.api("GET", "/replicas")).body.items.find((row: { self: boolean }) => row.self).id;

onPostgres("replicas that disagree", () => {
  test("one that was stopped for longer than it takes to be called dead gives up what others took", async () => {
    const team = await replicas(3);
    const [one, two, three] = team.replicas as [TeamProcess, TeamProcess, TeamProcess];
    const session = await sessionAt(team, one);
    const kept = await new RawSession(team.key).open(one);
    const heir = await idOf(two);
    // From now on the two have a connection for requests. A request that needs a new one has not been sent.
    expect(await session.call(two, "fix__count", { key: "before" })).toBe("before 1");
    process.kill(one.pid, "SIGSTOP");
    try {
      // Nobody knows what the stopped one does with a request that it has got.
      expect(await session.call(two, "fix__count", { key: "sent" })).toContain("may have run");
      expect(await session.call(two, "fix__count", { key: "taken up" })).toBe("taken up 1");
      expect(await ownersOf(team)).toEqual([{ owner: heir }]);
      // These wait in the socket of the stopped one.
      const sent = ["first", "second"].map((key) => session.call(one, "fix__count", { key }));
      process.kill(one.pid, "SIGCONT");
      expect(await Promise.all(sent)).toEqual(["first 1", "second 1"]);
    } finally {
      process.kill(one.pid, "SIGCONT");
    }
    const pidOf = (key: string) => team.journal.events("count").find((event) => event.key === key)?.pid;
    await until(() => one.stderr.includes("took this one for dead"));
    // The third one asks the first, which its id names, and hears there who has the session.
    expect(await session.call(three, "fix__count", { key: "third" })).toBe("third 1");
    const asked = new Set(["first", "second", "third"].map(pidOf));
    expect(asked).toEqual(new Set([pidOf("taken up")]));
    expect(team.journal.executions("sent")).toBeLessThanOrEqual(1);
    expect(await ownersOf(team)).toEqual([{ owner: heir }]);
    // Nobody asked for this one, so it is still where it was.
    expect(await kept.call(two, "fix__count", { key: "kept" })).toBe("kept 1");
    expect(await ownersOf(team)).toEqual([{ owner: heir }]);
  });

  test("one that lives and cannot be reached keeps its sessions: 503 with Retry-After", async () => {
    const team = await replicas(2);
    const [one, two] = team.replicas as Two;
    const session = await sessionAt(team, one);
    const [{ address }] = (await team.database.sql(
      `SELECT address FROM metamcp_replicas WHERE id = '${await idOf(one)}'`,
    )) as [{ address: string }];
    const [host = "", port] = address.split(":");
    const proxy = await cutProxy({ host, port: Number(port) });
    await team.database.sql(
      `UPDATE metamcp_replicas SET address = '127.0.0.1:${proxy.port}' WHERE id = '${await idOf(one)}'`,
    );
    // The other one knows the new address after a beat.
    await until(async () =>
      (await two.api("GET", "/replicas")).body.items.some((row: { address: string }) =>
        row.address.endsWith(`:${proxy.port}`),
      ),
    );
    expect(await session.call(two, "fix__echo", { message: "through" })).toBe("through");
    const running = await session.stream(two, "tools/call", {
      name: "fix__count",
      arguments: { key: "under way", ms: 60_000 },
    });
    await until(() => team.journal.executions("under way") === 1);
    for (const break_ of [() => proxy.cut(), () => proxy.mend().then(() => proxy.stall())]) {
      await break_();
      const refused = await session.request(two, "tools/call", {
        name: "fix__count",
        arguments: { key: "cut" },
      });
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([
        503,
        expect.stringMatching(/^\d+$/),
      ]);
    }
    expect((await running.next()).error.message).toContain("may have run");
    expect(await session.call(one, "fix__echo", { message: "at home" })).toBe("at home");
    expect(await ownersOf(team)).toEqual([]);
    expect(team.journal.executions("cut")).toBe(0);
    proxy.flow();
    await until(async () => (await session.request(two, "tools/list")).status === 200);
    expect(team.journal.executions("under way")).toBe(1);
  });

  test("one that alone is cut off from the store does not serve sessions that others may have taken", async () => {
    const database = await postgresDatabase();
    const [proxy, proxyOfTwo] = [await cutProxy(postgresAddress()), await cutProxy(postgresAddress())];
    const through = ({ port }: { readonly port: number }) => {
      const url = new URL(database.url);
      url.host = `127.0.0.1:${port}`;
      return url.href;
    };
    const team = await replicas(1, undefined, { database: { ...database, url: through(proxyOfTwo) } });
    const [two] = team.replicas as [TeamProcess];
    const one = await startReplica(
      { url: through(proxy) },
      { flags: ["--replica-address", "127.0.0.1:0", "--drain", "0"] },
    );
    const session = await new RawSession(team.key).open(one);
    const listed = async () => (await two.api("GET", "/replicas")).body.items.length;
    await until(async () => (await listed()) === 2);
    await proxy.cut();
    await until(async () => (await listed()) === 1);
    expect(await session.call(two, "fix__count", { key: "taken up" })).toBe("taken up 1");
    const refused = async () => {
      const { status, headers } = await session.request(one, "tools/call", {
        name: "fix__count",
        arguments: { key: "cut" },
      });
      return [status, headers.get("retry-after")];
    };
    expect(await refused()).toEqual([503, expect.stringMatching(/^\d+$/)]);
    // Nor if by now the store answers nobody.
    await proxyOfTwo.cut();
    await until(async () => (await (await fetch(`${two.url}/readyz`)).text()).includes('"store":"down"'));
    expect(await refused()).toEqual([503, expect.stringMatching(/^\d+$/)]);
    await proxyOfTwo.mend();
    // Nor if it cannot ask the others.
    process.kill(two.pid, "SIGSTOP");
    try {
      expect(await refused()).toEqual([503, expect.stringMatching(/^\d+$/)]);
    } finally {
      process.kill(two.pid, "SIGCONT");
    }
    await proxy.mend();
    await until(async () => (await session.call(one, "fix__count", { key: "back" })).startsWith("back"));
    expect(await ownersOf(team)).toEqual([{ owner: await idOf(two) }]);
    expect(["cut", "back"].map((key) => team.journal.executions(key))).toEqual([0, 1]);
  });

  test("two that reach each other and not the store serve no session that a third one, which they cannot reach, may have taken", async () => {
    const team = await replicas(1);
    const [third] = team.replicas as [TeamProcess];
    const store = await cutProxy(postgresAddress());
    const url = new URL(team.database.url);
    url.host = `127.0.0.1:${store.port}`;
    const start = () =>
      startReplica({ url: url.href }, { flags: ["--replica-address", "127.0.0.1:0", "--drain", "0"] });
    const [one, other] = [await start(), await start()];
    const session = await new RawSession(team.key).open(one);
    const nowhere = await cutProxy(postgresAddress());
    nowhere.stall();
    // Only the other one of the two can still be reached.
    await team.database.sql(
      `UPDATE metamcp_replicas SET address = '127.0.0.1:${nowhere.port}' WHERE id <> '${await idOf(other)}'`,
    );
    for (const at of [one, third])
      await until(async () =>
        (await at.api("GET", "/replicas")).body.items.some((row: { address: string }) =>
          row.address.endsWith(`:${nowhere.port}`),
        ),
      );
    await store.cut();
    await until(async () => (await third.api("GET", "/replicas")).body.items.length === 1);
    expect(await session.call(third, "fix__count", { key: "taken up" })).toBe("taken up 1");
    const refused = await session.request(one, "tools/call", {
      name: "fix__count",
      arguments: { key: "cut" },
    });
    expect(refused.status).toBe(503);
    expect(team.journal.executions("cut")).toBe(0);
  });

  test("one whose clock is an hour ahead is as good as the others", async () => {
    const team = await replicas(1);
    const [one] = team.replicas as [TeamProcess];
    const two = await startReplica(team.database, {
      flags: ["--replica-address", "127.0.0.1:0", "--drain", "0"],
      env: clockOff(HOUR),
    });
    const session = await new RawSession(team.key).open(two);
    const other = await new RawSession(team.key).open(one);
    for (const [at, here] of [
      [one, session],
      [two, other],
    ] as const)
      expect(await here.call(at, "fix__echo", { message: "forwarded" })).toBe("forwarded");
    // Several beats of each, by the journal of the database.
    const beats = async () =>
      String(
        (await team.database.sql("SELECT sum(extract(epoch FROM seen)) AS sum FROM metamcp_replicas"))[0]?.[
          "sum"
        ],
      );
    for (let n = 0; n < 6; n++) {
      const before = await beats();
      await until(async () => (await beats()) !== before);
    }
    for (const gateway of [one, two]) {
      expect((await gateway.api("GET", "/replicas")).body.items).toHaveLength(2);
      expect(gateway.stderr).not.toMatch(/for dead|is dead/);
    }
    await two.kill("SIGKILL");
    expect(await session.call(one, "fix__echo", { message: "taken up" })).toBe("taken up");
  });
});

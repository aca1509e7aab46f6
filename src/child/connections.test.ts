import { afterEach, expect, test } from "vitest";
import { flushPending, originOf, ScriptedServer, specOf } from "../../test/support/scripted-server.ts";
import type { Origin } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { listKeyOf } from "../kernel/list-key.ts";
import { silentLog } from "../kernel/log.ts";
import { type Raw, toRaw } from "../kernel/raw.ts";
import { type KnownRoots, type Roots, rootsOf } from "../kernel/roots.ts";
import { closed } from "./breaker.ts";
import { claimOf } from "./claim.ts";
import { Connections } from "./connections.ts";
import { Health } from "./health.ts";
import { Pool } from "./pool.ts";

const POOL = {
  poolSize: 9,
  minPoolSize: 0,
  resPoolSize: 0,
  resPoolTimeout: 0,
  idleTimeoutMs: 300_000,
  failureThreshold: 3,
  cooldownMs: 1_000,
};
const open: Connections[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((connections) => connections.destroy("the test is over")));
});

function setUp(more: Parameters<typeof specOf>[1] = {}, { asksForRoots = false } = {}) {
  const clock = new ManualClock();
  const server = new ScriptedServer();
  const listed: string[] = [];
  const health = new Health(() => ({ threshold: 3, cooldownMs: 1_000 }));
  const connections = new Connections(
    specOf("x", more),
    {
      clock,
      log: silentLog,
      pool: new Pool(POOL, clock, silentLog),
      breaker: () => ({ threshold: 3, cooldownMs: 1_000 }),
      connector: () => Promise.resolve(server),
      eraOf: () => undefined,
      onHandshake: async ({ key }) => {
        listed.push(key);
        if (asksForRoots) server.last.ask("roots/list");
      },
      onListChanged: () => {},
      levelOf: () => undefined,
    },
    health,
  );
  open.push(connections);
  const reach = async (origin: Origin) => {
    const claim = claimOf({ origin, uplink: origin.uplink, repeat: "safe" }, closed);
    const connection = connections.open(claim) ?? (await connections.reach(claim, undefined));
    connection.drop(claim);
    return connection;
  };
  return { clock, server, listed, connections, reach };
}

/** Roots that a test can change. */
class Folders implements Roots {
  known: KnownRoots | undefined;
  asked = 0;
  where: string;

  constructor(where: string) {
    this.where = where;
  }

  async ask(): Promise<KnownRoots> {
    this.asked++;
    this.known = rootsOf(toRaw({ roots: [{ uri: `file://${this.where}` }] }));
    return this.known;
  }
}
const able = toRaw({ roots: { listChanged: true } });
const at = (session: string, roots: Folders): Origin => originOf(session, { capabilities: able, roots });
const told = (raw: Raw): unknown => JSON.parse(raw.toString());

test("clients with the same capabilities share one connection, also if they come at once; others have their own", async () => {
  const { reach, server, listed } = setUp();
  const [a, b] = await Promise.all([reach(originOf("a")), reach(originOf("b"))]);
  const sampling = originOf("c", { capabilities: toRaw({ sampling: {} }) });
  const c = await reach(sampling);
  expect(b).toBe(a);
  expect(c).not.toBe(a);
  expect(server.links.map(({ capabilities }) => capabilities)).toEqual([[{}], [{ sampling: {} }]]);
  expect(listed).toEqual([listKeyOf(originOf("a")), listKeyOf(sampling)]);
});

test("with isolation each session has its own connection, which ends with the session", async () => {
  const { reach, server, connections } = setUp({ isolation: "session" });
  const [a, b] = [await reach(originOf("a")), await reach(originOf("b"))];
  expect(a).not.toBe(b);
  expect(connections.connected(originOf("a"))).toBe(true);
  connections.sessionEnded("a");
  await flushPending();
  expect(server.links.map((link) => link.closed)).toEqual([true, false]);
  expect(connections.connected(originOf("a"))).toBe(false);
});

test("settings that change how the child is reached replace a connection, which finishes its calls; other settings do not", async () => {
  const { reach, server, connections } = setUp();
  const first = await reach(originOf("a"));
  connections.apply(specOf("x", { timeoutMs: 5 }));
  expect(first.spec.timeoutMs).toBe(5);
  expect(await reach(originOf("a"))).toBe(first);

  const lease = first.lease();
  connections.apply(specOf("x", { args: ["other"] } as Parameters<typeof specOf>[1]));
  const second = await reach(originOf("a"));
  expect(second).not.toBe(first);
  expect(server.links.map((link) => link.closed)).toEqual([false, false]);
  lease.release();
  await flushPending();
  expect(server.links.map((link) => link.closed)).toEqual([true, false]);
});

test("a removed server closes its connections and opens no new one", async () => {
  const { reach, server, connections } = setUp();
  await reach(originOf("a"));
  await connections.remove(new MetaMcpError("server_not_found", "It was removed."));
  expect(server.last.closed).toBe(true);
  await expect(reach(originOf("a"))).rejects.toMatchObject({ code: "server_not_found" });
});

test("a request of MetaMCP itself is cancelled if we end the connection, and fails if the child crashes", async () => {
  const { reach, server, connections } = setUp();
  const lost = (await reach(originOf("a"))).ask("tools/list", undefined);
  server.last.die();
  await expect(lost).rejects.toMatchObject({ category: "stdio-exit" });
  const ended = (await reach(originOf("a"))).ask("tools/list", undefined);
  await Promise.all([
    connections.destroy("MetaMCP is stopping"),
    expect(ended).rejects.toMatchObject({ code: "cancelled" }),
  ]);
});

test("a client is asked for its roots before its first connect, and the child gets the roots of its connection", async () => {
  const { reach, server } = setUp();
  const [proj, bad] = [new Folders("/proj"), new Folders("/bad")];
  const a = await reach(at("a", proj));
  const b = await reach(at("b", bad));
  expect(await reach(at("c", new Folders("/bad")))).toBe(b);
  expect(a).not.toBe(b);
  expect([proj.asked, bad.asked]).toEqual([1, 1]);
  for (const link of server.links) link.ask("roots/list");
  await flushPending();
  const answers = server.links.map(({ answers }) =>
    answers.map((one) => one.kind === "result" && told(one.result)),
  );
  expect(answers).toEqual([[{ roots: [{ uri: "file:///proj" }] }], [{ roots: [{ uri: "file:///bad" }] }]]);
});

test("a child that asks for roots at its start has time to process them before the first call", async () => {
  const { reach, server, clock } = setUp({}, { asksForRoots: true });
  let reached = false;
  const a = reach(at("a", new Folders("/proj"))).then(() => {
    reached = true;
  });
  await flushPending();
  expect(server.last.answers).toHaveLength(1);
  expect(reached).toBe(false);
  clock.advance(100);
  await a;
});

test("a client whose roots change keeps a connection that it uses alone, and leaves a shared one", async () => {
  const { reach, server, connections } = setUp();
  const [mine, shared] = [new Folders("/mine"), new Folders("/shared")];
  const [a, b, c] = [at("a", mine), at("b", shared), at("c", new Folders("/shared"))];
  const [own, common] = [await reach(a), await reach(b)];
  expect(await reach(c)).toBe(common);

  mine.where = "/elsewhere";
  await mine.ask();
  connections.rootsChanged(a, undefined);
  expect(server.links[0]?.notes).toContain("notifications/roots/list_changed");
  expect(await reach(a)).toBe(own);

  shared.where = "/elsewhere";
  await shared.ask();
  connections.rootsChanged(b, undefined);
  expect(await reach(b)).toBe(own);
  expect(await reach(c)).toBe(common);
  expect(server.links[1]?.notes).not.toContain("notifications/roots/list_changed");
  expect(server.links).toHaveLength(2);
});

test("roots that are expensive to ask for are asked for once the child wants them, and then decide which clients share", async () => {
  const { reach, server } = setUp();
  const expensive = (where: string) => Object.assign(new Folders(where), { expensiveToAsk: true });
  const [proj, bad] = [expensive("/proj"), expensive("/bad")];
  const a = at("a", proj);
  const first = await reach(a);
  expect(proj.asked).toBe(0);
  const claim = claimOf({ origin: a, uplink: a.uplink, repeat: "safe" }, closed);
  first.hold(claim);
  server.last.ask("roots/list");
  await flushPending();
  first.drop(claim);
  expect(proj.asked).toBe(1);
  expect(await reach(at("b", bad))).not.toBe(first);
  expect(await reach(at("c", expensive("/proj")))).toBe(first);
});

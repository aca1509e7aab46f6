/** Several processes (instances) of one server, seen from its callers. */
import { afterEach, expect, test } from "vitest";
import { flushPending, originOf, ScriptedServer, specOf } from "../../test/support/scripted-server.ts";
import { emptyConfig } from "../config/check.ts";
import type { PoolOptions, ServerSpec } from "../config/spec.ts";
import type { Call, Origin } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { fromRaw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { Fleet } from "./fleet.ts";

const open: Fleet[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((fleet) => fleet.destroy()));
});

const MINUTE = 60_000;
const several = (instances: number, more: object = {}): ServerSpec =>
  specOf("x", { instances, ...more } as Partial<ServerSpec>);

function setUp(spec: ServerSpec, pool: Partial<PoolOptions> = {}) {
  const clock = new ManualClock();
  const server = new ScriptedServer();
  const config = (one: ServerSpec) => {
    const empty = emptyConfig("", {});
    return { ...empty, pool: { ...empty.pool, ...pool }, servers: new Map([["x", one]]) };
  };
  const fleet = new Fleet(config(spec), {
    clock,
    log: silentLog,
    connector: async () => server,
    eraOf: () => undefined,
    onHandshake: () => Promise.resolve(),
    onListChanged: () => {},
  });
  open.push(fleet);
  /** Sends a call. `done` is its answer. */
  const begin = async (origin: Origin, more: Partial<Call> = {}) => {
    const answer = fleet
      .handle({
        server: "x",
        method: "tools/call",
        params: toRaw({ of: origin.session }),
        origin,
        signal: new CallSignal(),
        deadline: Number.POSITIVE_INFINITY,
        repeat: "unsafe",
        uplink: origin.uplink,
        ...more,
      })
      .then(fromRaw, (error: Error & { code?: string }) => error.code ?? error.message);
    await flushPending();
    return answer;
  };
  const callers = () =>
    server.links.map(({ calls }) =>
      calls.map(({ params }) => params && (fromRaw(params) as { of: string }).of),
    );
  const answerAll = async () => {
    for (const link of server.links) while (link.calls.length > 0) link.answerNext();
    await flushPending();
  };
  return {
    clock,
    server,
    fleet,
    begin: (origin: Origin, more?: Partial<Call>) => ({ done: begin(origin, more) }),
    /** The sessions with open calls at each process, in the order of starts. */
    callers,
    answerAll,
    apply: (one: ServerSpec) => fleet.apply(config(one)),
    status: () => fleet.status()[0],
  };
}

const session = (name: string): Origin => originOf(name);
const alone = (name: string): Origin => originOf(name, { sessionless: true });

test("another process starts when a call finds all of them busy, up to the configured number", async () => {
  const { begin, callers, answerAll, status, server } = setUp(several(2));
  for (const name of ["a", "b", "c"]) {
    void begin(session(name));
    await flushPending();
  }
  expect(callers()).toEqual([["a", "c"], ["b"]]);
  expect(status()).toMatchObject({ instances: 2, connected: true });
  await answerAll();
  void begin(session("d"));
  await flushPending();
  expect(server.links).toHaveLength(2);
  // Both are idle, so the one with fewer sessions is chosen.
  expect(callers()).toEqual([[], ["d"]]);
});

test("a session stays on one process however busy it is; calls without a session go to the least loaded one", async () => {
  const { begin, callers } = setUp(several(3));
  for (let n = 0; n < 3; n++) {
    void begin(session("a"));
    await flushPending();
  }
  expect(callers()).toEqual([["a", "a", "a"]]);
  for (let n = 0; n < 4; n++) {
    void begin(alone("b"));
    await flushPending();
  }
  expect(callers()).toEqual([
    ["a", "a", "a"],
    ["b", "b"],
    ["b", "b"],
  ]);
});

test("the crash of one process fails only its own calls", async () => {
  const { begin, callers, server, status } = setUp(several(2));
  const [a, b] = [begin(session("a")), begin(session("b"))];
  await flushPending();
  expect(callers()).toEqual([["a"], ["b"]]);
  server.links[0]?.die();
  expect(await a.done).toBe("server_unavailable");
  expect(status()).toMatchObject({ instances: 1, state: "active" });
  server.links[1]?.answerNext({ fine: true });
  expect(await b.done).toEqual({ fine: true });
  // The process of session a has crashed, so its next call goes to the other one, which is idle.
  void begin(session("a"));
  await flushPending();
  expect(callers()).toEqual([["a"], ["a"]]);
});

test("a call is retried on its own process after a restart, so that it cannot crash the other ones", async () => {
  const { begin, callers, server } = setUp(several(2));
  const [killer, other] = [begin(session("k"), { repeat: "safe" }), begin(session("o"))];
  await flushPending();
  server.links[1]?.answerNext({ fine: true });
  expect(await other.done).toEqual({ fine: true });
  server.links[0]?.die();
  await flushPending();
  expect(callers()).toEqual([["k"], [], ["k"]]);
  server.links[2]?.die();
  expect(await killer.done).toBe("server_unavailable");
  expect(server.links[1]?.closed).toBe(false);
});

test("each process needs a slot of the pool; without a free slot the running processes take the calls", async () => {
  const { begin, callers, server } = setUp(several(4), { poolSize: 2 });
  for (let n = 0; n < 6; n++) {
    void begin(alone(`s${n}`));
    await flushPending();
  }
  expect(server.links).toHaveLength(2);
  expect(callers().map(({ length }) => length)).toEqual([3, 3]);
});

test("an idle process ends after the idle timeout, and the others stay", async () => {
  const { begin, clock, server, answerAll, status } = setUp(several(2), { idleTimeoutMs: MINUTE });
  for (const name of ["a", "b"]) void begin(session(name));
  await flushPending();
  await answerAll();
  clock.advance(MINUTE);
  void begin(session("b"));
  await flushPending();
  clock.advance(MINUTE);
  await flushPending();
  expect(server.links.map(({ closed }) => closed)).toEqual([true, false]);
  expect(status()).toMatchObject({ instances: 1 });
});

test("a caller that only lists starts no further process and is not bound to one", async () => {
  const { begin, callers, fleet, server, answerAll } = setUp(several(3));
  void begin(session("a"));
  await flushPending();
  const leases = [await fleet.connect("x", session("b")), await fleet.connect("x", session("c"))];
  expect(server.links).toHaveLength(1);
  void begin(session("b"));
  await flushPending();
  expect(callers()).toEqual([["a"], ["b"]]);
  // Listing does not make a process busy.
  await answerAll();
  void begin(alone("d"));
  await flushPending();
  expect(server.links).toHaveLength(2);
  for (const lease of leases) lease.release();
});

test("after a change of the number of processes, calls in flight finish and surplus processes end", async () => {
  const { begin, callers, server, answerAll, apply, status } = setUp(several(3));
  const calls = ["a", "b", "c"].map((name) => begin(session(name)));
  await flushPending();
  apply(several(1));
  await flushPending();
  expect(server.links.slice(0, 3).map(({ closed }) => closed)).toEqual([false, false, false]);
  await answerAll();
  for (const { done } of calls) expect(await done).toEqual({ ok: true });
  expect(server.links.map(({ closed }) => closed)).toEqual([true, true, true, false]);
  for (const name of ["a", "b", "c"]) void begin(session(name));
  await flushPending();
  expect(callers().at(-1)).toEqual(["a", "b", "c"]);
  expect(status()).not.toHaveProperty("instances");
});

test("a subscription stays at the process of its session, and moves when that process ends", async () => {
  const { begin, server, apply, answerAll } = setUp(several(2));
  const subscribe = (name: string) =>
    begin(session(name), { method: "resources/subscribe", params: toRaw({ uri: `x:${name}`, of: name }) });
  void begin(session("a"));
  await flushPending();
  void subscribe("b");
  await flushPending();
  const methods = () => server.links.map(({ calls }) => calls.map(({ method }) => method));
  expect(methods()).toEqual([["tools/call"], ["resources/subscribe"]]);
  await answerAll();
  apply(several(1));
  await flushPending();
  expect(methods().at(-1)).toEqual(["resources/subscribe"]);
});

test("parallel attempts of one call use different processes, and the session is bound to the first", async () => {
  const { begin, callers, answerAll } = setUp(several(3));
  const beside = new Set<number>();
  void begin(session("a"), { beside });
  await flushPending();
  void begin(session("a"), { beside });
  await flushPending();
  expect(callers()).toEqual([["a"], ["a"]]);
  await answerAll();
  void begin(session("a"));
  await flushPending();
  expect(callers()).toEqual([["a"], []]);
});

test("all processes of a server share one circuit breaker", async () => {
  const { begin, server, status } = setUp(several(2), { failureThreshold: 2 });
  for (let n = 0; n < 2; n++) {
    const calls = [begin(alone("a")), begin(alone("b"))];
    await flushPending();
    for (const link of server.links.slice(-2)) link.die();
    for (const { done } of calls) expect(await done).toBe("server_unavailable");
  }
  expect(status()).toMatchObject({ state: "failed", instances: 0 });
});

import { afterEach, expect, test } from "vitest";
import { flushPending, originOf, ScriptedServer, specOf } from "../../test/support/scripted-server.ts";
import type { Call } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { Child } from "./child.ts";
import { ChildFailure } from "./link.ts";
import { Pool } from "./pool.ts";

const POOL = {
  poolSize: 9,
  minPoolSize: 0,
  resPoolSize: 0,
  resPoolTimeout: 0,
  idleTimeoutMs: 300_000,
  failureThreshold: 2,
  cooldownMs: 1_000,
};
const open: Child[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((child) => child.connections.destroy("the test is over")));
});

function setUp(more: Parameters<typeof specOf>[1] = {}) {
  const clock = new ManualClock();
  const server = new ScriptedServer();
  let unlistable = false;
  let lists = 0;
  let items: ((ask: (method: string, params: Raw | undefined) => Promise<Raw>) => void) | undefined;
  const child = new Child(specOf("x", { timeoutMs: 1_000, deadlineMs: 10_000, ...more }), {
    clock,
    log: silentLog,
    pool: new Pool(POOL, clock, silentLog),
    breaker: () => ({ threshold: 2, cooldownMs: 1_000 }),
    connector: () => Promise.resolve(server),
    eraOf: () => undefined,
    onHandshake: async (_from, _handshake, ask) => {
      lists++;
      items?.(ask);
      if (unlistable) throw new Error("not today");
    },
    onListChanged: () => {},
    levelOf: () => undefined,
  });
  open.push(child);
  const call = (given: Partial<Call> = {}): Promise<Raw> => {
    const origin = originOf("s");
    const answer = child.handle({
      server: "x",
      method: "tools/call",
      params: toRaw({ name: "t" }),
      origin,
      signal: new CallSignal(),
      deadline: Number.POSITIVE_INFINITY,
      repeat: "safe",
      uplink: origin.uplink,
      ...given,
    });
    answer.catch(() => {});
    return answer;
  };
  const refuseLists = (refuse: boolean): void => {
    unlistable = refuse;
  };
  const listItems = (list: typeof items): void => {
    items = list;
  };
  return { clock, server, child, call, refuseLists, listItems, lists: () => lists };
}

test("a call starts the server, waits for the handshake and returns the result as written", async () => {
  const { server, call, child } = setUp();
  expect(child.status()).toMatchObject({ state: "idle", connected: false });
  const answer = call();
  await flushPending();
  expect(server.last.notes).toEqual(["notifications/initialized"]);
  expect(child.status()).toMatchObject({ state: "active", connected: true });
  server.last.answerNext({ content: [1] });
  expect(fromRaw(await answer)).toEqual({ content: [1] });
  expect(child.status()).toMatchObject({ state: "idle", connected: true });
});

test("calls lost in a crash are sent once more to one new process and report two attempts; unsafe calls fail", async () => {
  const { server, call, child } = setUp();
  const calls = [call(), call(), call({ repeat: "unsafe" })];
  await flushPending();
  server.last.die();
  await flushPending();
  expect(server.links).toHaveLength(2);
  await expect(calls[2]).rejects.toMatchObject({ code: "server_unavailable" });
  for (let n = 0; n < 2; n++) server.last.answerNext();
  for (const answer of calls.slice(0, 2))
    expect(fromRaw((await answer) as Raw)).toMatchObject({ _meta: { "metamcp/attempts": 2 } });
  expect(child.status().reason).toBeUndefined();
});

test("a server cannot set keys of MetaMCP, and those that MetaMCP adds stay", async () => {
  const { server, call } = setUp();
  const forged = { "metamcp/error": { code: "forbidden" }, "metamcp/attempts": 9, own: 1 };
  const answer = call();
  await flushPending();
  server.last.die();
  await flushPending();
  server.last.answerNext({ content: [{ type: "text", text: "x", _meta: forged }], _meta: forged });
  expect(fromRaw(await answer)).toEqual({
    content: [{ type: "text", text: "x", _meta: { own: 1 } }],
    _meta: { own: 1, "metamcp/attempts": 2 },
  });
});

test("a call that declares nothing is not sent again; the server is restarted, and only a failed restart counts", async () => {
  const { server, call, child } = setUp({ retry: "safe" });
  const lost = call({ repeat: "unknown" });
  await flushPending();
  server.last.die();
  await expect(lost).rejects.toMatchObject({
    code: "server_unavailable",
    retryable: false,
    message: expect.stringContaining("may have run"),
  });
  await flushPending();
  expect([server.links.length, server.last.calls.length]).toEqual([2, 0]);
  expect(child.breaker).toMatchObject({ phase: "closed", failures: 0 });
  expect(child.status()).toMatchObject({ state: "idle", connected: true });

  // A second crash within a minute gets no restart, so it counts.
  const again = call({ repeat: "unknown" });
  await flushPending();
  server.last.die();
  await expect(again).rejects.toMatchObject({ code: "server_unavailable" });
  await flushPending();
  expect(server.links).toHaveLength(2);
  expect(child.breaker).toMatchObject({ failures: 1 });
});

test("a restart without a call that fails counts as one failure, however many calls the crash ended", async () => {
  const { server, call, child } = setUp({ retry: "safe" });
  const calls = Array.from({ length: 3 }, () => call({ repeat: "unknown" }));
  await flushPending();
  server.failure = new ChildFailure("offline", "gone");
  server.last.die();
  for (const lost of calls) await expect(lost).rejects.toMatchObject({ code: "server_unavailable" });
  await flushPending();
  expect(child.breaker).toMatchObject({ phase: "closed", failures: 1 });
});

test("a safe call is sent again although an unknown one beside it is not, and their crash does not count", async () => {
  const { server, call, child } = setUp({ retry: "safe" });
  const [safe, unknown] = [call(), call({ repeat: "unknown" })];
  await flushPending();
  server.last.die();
  await expect(unknown).rejects.toMatchObject({ code: "server_unavailable" });
  await flushPending();
  expect(server.last.calls).toHaveLength(1);
  server.last.answerNext();
  expect(fromRaw(await safe)).toMatchObject({ _meta: { "metamcp/attempts": 2 } });
  expect(child.breaker).toMatchObject({ failures: 0 });
});

test("a call that was lost twice says so in its error", async () => {
  const { server, call } = setUp({ retry: "safe" });
  const lost = call();
  for (let n = 0; n < 2; n++) {
    await flushPending();
    server.last.die();
  }
  await expect(lost).rejects.toMatchObject({
    message: expect.stringContaining("sent this call 2 times"),
    context: { details: { attempts: 2 } },
  });
});

test("a call that certainly was not sent goes to the new process, whatever its tool declares", async () => {
  const { server, call } = setUp({ retry: "never" });
  const unsent = call({ repeat: "unsafe" });
  await flushPending();
  server.last.refuse(0);
  server.last.die();
  await flushPending();
  expect(server.links).toHaveLength(2);
  server.last.answerNext();
  expect(fromRaw(await unsent)).toEqual({ ok: true });
});

test("an unreachable server is blocked, and after the cooldown one call probes it", async () => {
  const { server, call, child, clock } = setUp();
  server.failure = new ChildFailure("offline", "no such host");
  for (let n = 0; n < 2; n++) await expect(call()).rejects.toMatchObject({ code: "server_unavailable" });
  expect(child.status()).toMatchObject({ state: "failed", retryAfterMs: 1_000 });
  await expect(call()).rejects.toMatchObject({ context: { retryAfterMs: 1_000 } });
  server.failure = undefined;
  clock.advance(1_000);
  const probe = call();
  await expect(call()).rejects.toMatchObject({ code: "server_unavailable" });
  await flushPending();
  server.last.answerNext();
  await probe;
  expect(child.status()).toMatchObject({ state: "idle", connected: true });
});

test("a call without an answer times out and is cancelled at the server, which is ended if it answers no ping", async () => {
  const { server, call, child, clock } = setUp();
  const slow = call();
  await flushPending();
  clock.advance(1_000);
  await expect(slow).rejects.toMatchObject({ code: "timeout" });
  await flushPending();
  expect(server.last.notes).toContain("notifications/cancelled");
  expect(child.status()).toMatchObject({ state: "idle", connected: true });

  const hanging = call();
  await flushPending();
  server.last.alive = false;
  clock.advance(1_000);
  await expect(hanging).rejects.toMatchObject({ code: "timeout" });
  await flushPending();
  clock.advance(2_000);
  await flushPending();
  expect([server.last.closed, child.status().connected]).toEqual([true, false]);
});

test("a cancelled call is rejected at once, even while the server starts", async () => {
  const { call, child } = setUp();
  const signal = new CallSignal();
  const answer = call({ signal });
  signal.abort(new Error("no longer wanted"));
  await expect(answer).rejects.toThrow("no longer wanted");
  await flushPending();
  expect(child.status().state).not.toBe("failed");
});

test("a failed list is repeated by connect with `list`, and not by calls", async () => {
  const { server, call, child, refuseLists, lists } = setUp();
  refuseLists(true);
  (await child.connect(originOf("s"))).release();
  const answer = call();
  server.last.answerNext();
  await answer;
  (await child.connect(originOf("s"))).release();
  expect(lists()).toBe(1);
  (await child.connect(originOf("s"), { list: true })).release();
  expect(lists()).toBe(2);
  refuseLists(false);
  for (let n = 0; n < 2; n++) (await child.connect(originOf("s"), { list: true })).release();
  expect(lists()).toBe(3);
});

test("a subscription is sent to the child once for all clients that share a connection", async () => {
  const { server, call } = setUp();
  const params = toRaw({ uri: "x://1" });
  const subscribe = (session: string) =>
    call({ method: "resources/subscribe", params, origin: originOf(session) });
  const first = subscribe("a");
  await flushPending();
  server.last.answerNext({});
  await first;
  expect(await subscribe("b")).toEqual(EMPTY_OBJECT);
  const leave = (session: string) =>
    call({ method: "resources/unsubscribe", params, origin: originOf(session) });
  expect(await leave("a")).toEqual(EMPTY_OBJECT);
  const last = leave("b");
  await flushPending();
  expect(server.last.calls.map(({ method }) => method)).toEqual(["resources/unsubscribe"]);
  server.last.answerNext({});
  await last;
});

test("a child is served at most 64 requests at once; pings are always answered", async () => {
  const { server, call } = setUp();
  const origin = originOf("s", { capabilities: toRaw({ elicitation: {} }) });
  const uplink = { notify: () => {}, request: () => new Promise<Raw>(() => {}) };
  const answer = call({ origin, uplink });
  await flushPending();
  for (let id = 1; id <= 100; id++) server.last.ask("elicitation/create", id);
  server.last.ask("ping", 101);
  await flushPending();
  const kinds = server.last.answers.map(({ kind }) => kind);
  expect([kinds.filter((kind) => kind === "error").length, kinds.at(-1)]).toEqual([36, "result"]);
  server.last.answerNext();
  await answer;
});

test("a server counts as connected again once its lists are read, or when a connect would have taken too long", async () => {
  const { server, child, listItems, clock } = setUp({ connectTimeoutMs: 5_000 });
  listItems(
    (ask) =>
      void ask("prompts/list", undefined)
        .then(() => ask("resources/list", undefined))
        .catch(() => {}),
  );
  const wait = async (): Promise<{ done: boolean }> => {
    const state = { done: false };
    void child.ensureConnected(originOf("s")).then(() => {
      state.done = true;
    });
    await flushPending();
    return state;
  };
  const waiting = await wait();
  for (const _ of ["prompts", "resources"]) {
    clock.advance(100);
    await flushPending();
    expect([waiting.done, child.status().state]).toEqual([false, "active"]);
    server.last.answerNext({});
  }
  await flushPending();
  clock.advance(100);
  await flushPending();
  await flushPending();
  expect([waiting.done, child.status().state]).toEqual([true, "idle"]);

  child.connections.reconnect();
  const late = await wait();
  for (let n = 0; n < 60; n++) {
    clock.advance(100);
    await flushPending();
  }
  expect(late.done).toBe(true);
});

test("the first result after the process of a keep-alive server was replaced says so, once, to clients that had used it", async () => {
  const answered = async ({ server, call }: ReturnType<typeof setUp>, session: string): Promise<unknown> => {
    const answer = call({ origin: originOf(session) });
    await flushPending();
    server.last.answerNext({});
    return (fromRaw(await answer) as { _meta?: object })._meta;
  };
  const kept = setUp({ lifecycle: { mode: "keep-alive" } });
  expect(await answered(kept, "a")).toBeUndefined();
  kept.server.last.die("out of memory");
  await flushPending();
  expect(await answered(kept, "a")).toEqual({
    "metamcp/restarted": { reason: "out of memory", note: expect.stringContaining("restarted") },
  });
  expect([await answered(kept, "a"), await answered(kept, "b")]).toEqual([undefined, undefined]);
  const plain = setUp();
  await answered(plain, "a");
  plain.server.last.die();
  await flushPending();
  expect(await answered(plain, "a")).toBeUndefined();
});

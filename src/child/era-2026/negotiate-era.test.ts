import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import type { Message } from "../../rpc/message.ts";
import { Peer } from "../../rpc/peer.ts";
import { ChildFailure, type HeadersOf, type Link } from "../link.ts";
import { negotiateEra } from "./negotiate-era.ts";

type Answer = { result: unknown } | { error: unknown } | { failure: ChildFailure } | undefined;

const DISCOVERED = {
  result: {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    instructions: "Mind the gap.",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "n", title: "New", version: "2" } },
  },
};
const INITIALIZED = {
  result: { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "old", version: "1" } },
};
const NO_METHOD = { error: { code: -32601, message: "Method not found" } };

interface About {
  /** The era that the child spoke at its last handshake. */
  readonly known?: string;
  readonly http?: boolean;
}

/** Negotiates with a child that gives these answers, by method and in this order. */
function negotiate(answers: Record<string, Answer[]>, { known, http = false }: About = {}) {
  const asked: string[] = [];
  const clock = new ManualClock();
  const opening = new AbortController();
  let headersOf: HeadersOf | undefined;
  const spoken: unknown[] = [];
  const peer: Peer = new Peer(
    (message: Message) => {
      if (message.kind !== "request") return;
      asked.push(message.method);
      spoken.push(headersOf?.(message)["mcp-method"]);
      const answer = answers[message.method]?.shift();
      queueMicrotask(() => {
        if (!answer) return;
        if ("failure" in answer) peer.fail(Number(fromRaw(message.id)), answer.failure);
        else if ("error" in answer)
          peer.receive({ kind: "error", id: message.id, error: toRaw(answer.error) });
        else peer.receive({ kind: "result", id: message.id, result: toRaw(answer.result) });
      });
    },
    { onRequest: () => Promise.resolve(toRaw({})), onNotification: () => {} },
  );
  const stateless = (given: HeadersOf | undefined): void => {
    headersOf = given;
  };
  const link = (http ? { stateless } : {}) as unknown as Link;
  const done = negotiateEra({
    peer,
    link,
    capabilities: toRaw({ roots: {} }) as Raw,
    signal: opening.signal,
    clock,
    known,
    warn: () => {},
    onListChanged: () => {},
  });
  done.catch(() => {});
  return { done, asked, spoken, clock, opening };
}

test("a child on stdio, or one known to be of the session-based era, gets only initialize", async () => {
  const { done, asked } = negotiate({ initialize: [INITIALIZED] });
  expect((await done).handshake).toMatchObject({
    era: "legacy",
    protocolVersion: "2025-06-18",
    title: "old",
  });
  expect(asked).toEqual(["initialize"]);
  const remote = negotiate({ initialize: [INITIALIZED] }, { known: "legacy", http: true });
  expect((await remote.done).handshake.era).toBe("legacy");
  expect([remote.asked, remote.spoken]).toEqual([["initialize"], [undefined]]);
});

test("an unknown child over HTTP gets server/discover first, and initialize if it refuses that", async () => {
  const both = negotiate({ "server/discover": [DISCOVERED], initialize: [INITIALIZED] }, { http: true });
  expect((await both.done).handshake.era).toBe("2026");
  expect([both.asked, both.spoken]).toEqual([["server/discover"], ["server/discover"]]);
  for (const refusal of [
    NO_METHOD,
    { failure: new ChildFailure("other", "answered 400") },
    { failure: new ChildFailure("http", "answered 500") },
  ]) {
    const old = negotiate({ "server/discover": [refusal], initialize: [INITIALIZED] }, { http: true });
    expect((await old.done).handshake.era).toBe("legacy");
    expect([old.asked, old.spoken]).toEqual([
      ["server/discover", "initialize"],
      ["server/discover", undefined],
    ]);
  }
  const failure = new ChildFailure("auth", "wants a login");
  const locked = negotiate({ "server/discover": [{ failure }] }, { http: true });
  await expect(locked.done).rejects.toBe(failure);
  expect(locked.asked).toEqual(["server/discover"]);
});

test.each([
  ["an unknown method", NO_METHOD],
  ["another version", { error: { code: -32022, message: "no", data: { supported: ["2026-07-28"] } } }],
  ["invalid params", { error: { code: -32602, message: "no envelope" } }],
  ["a bare status", { failure: new ChildFailure("other", "answered 400") }],
])("a child that refuses initialize with %s gets server/discover", async (_, refusal) => {
  const { done, asked, spoken } = negotiate(
    { initialize: [refusal], "server/discover": [DISCOVERED] },
    { known: "legacy", http: true },
  );
  const { handshake } = await done;
  expect({ ...handshake, capabilities: fromRaw(handshake.capabilities) }).toEqual({
    era: "2026",
    protocolVersion: "2026-07-28",
    capabilities: { tools: {} },
    title: "New",
    version: "2",
    instructions: "Mind the gap.",
  });
  expect(asked).toEqual(["initialize", "server/discover"]);
  expect(spoken).toEqual([undefined, "server/discover"]);
});

test("a child that refuses both is reported with its answer to initialize", async () => {
  const neither = negotiate({
    initialize: [{ error: { code: 1, message: "go away" } }],
    "server/discover": [NO_METHOD],
  });
  await expect(neither.done).rejects.toThrow("refused the handshake: go away");
  const strange = negotiate({
    initialize: [NO_METHOD],
    "server/discover": [{ result: { supportedVersions: ["2030-01-01"] } }],
  });
  await expect(strange.done).rejects.toThrow("refused the handshake");
});

test("a child that refuses initialize and does not answer server/discover is reported with its answer to initialize", async () => {
  const refusal = { error: { code: -32000, message: "the licence has expired" } };
  const slow = negotiate({ initialize: [refusal] });
  await new Promise((resolve) => setImmediate(resolve));
  expect(slow.asked).toEqual(["initialize", "server/discover"]);
  slow.clock.advance(5_000);
  await expect(slow.done).rejects.toThrow("refused the handshake: the licence has expired");
  expect(slow.clock.pending).toBe(0);
});

test.each([
  new ChildFailure("offline", "cannot be reached"),
  new ChildFailure("auth", "wants a login"),
  new ChildFailure("other", "never sent", { unsent: true }),
])(
  "a failure of initialize that is no refusal does not lead to server/discover: $message",
  async (failure) => {
    const { done, asked } = negotiate({ initialize: [{ failure }] });
    await expect(done).rejects.toBe(failure);
    expect(asked).toEqual(["initialize"]);
  },
);

test("a child known to be of the stateless era gets server/discover first, and again if it lists our version in its refusal", async () => {
  const sure = negotiate({ "server/discover": [DISCOVERED] }, { known: "2026" });
  expect((await sure.done).handshake.era).toBe("2026");
  expect(sure.asked).toEqual(["server/discover"]);
  const doubt = { error: { code: -32022, message: "?", data: { supported: ["2026-07-28"] } } };
  const unsure = negotiate({ "server/discover": [doubt, DISCOVERED] }, { known: "2026" });
  expect((await unsure.done).handshake.era).toBe("2026");
});

test("a child of the stateless era that refuses server/discover or does not answer it in time gets initialize", async () => {
  const known = { known: "2026", http: true };
  const changed = negotiate({ "server/discover": [NO_METHOD], initialize: [INITIALIZED] }, known);
  expect((await changed.done).handshake.era).toBe("legacy");
  expect(changed.spoken).toEqual(["server/discover", undefined]);
  const silent = negotiate({ initialize: [INITIALIZED] }, known);
  await new Promise((resolve) => setImmediate(resolve));
  expect(silent.asked).toEqual(["server/discover"]);
  silent.clock.advance(5_000);
  expect((await silent.done).handshake.era).toBe("legacy");
});

test("an aborted negotiation rejects at once", async () => {
  const { done, opening, asked } = negotiate({}, { known: "2026" });
  opening.abort(new Error("too slow"));
  await expect(done).rejects.toThrow("too slow");
  expect(asked).toEqual(["server/discover"]);
});

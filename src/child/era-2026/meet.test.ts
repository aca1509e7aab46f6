import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import type { Message } from "../../rpc/message.ts";
import { Peer } from "../../rpc/peer.ts";
import { ChildFailure, type HeadersOf, type Link } from "../link.ts";
import { meet } from "./meet.ts";

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
  /** What it spoke when it was last met. */
  readonly known?: string;
  readonly http?: boolean;
}

/** Meets a child that answers as told, first things first. */
function met(answers: Record<string, Answer[]>, { known, http = false }: About = {}) {
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
  const done = meet({
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

test("a child of the old era is only ever asked for a handshake", async () => {
  const { done, asked } = met({ initialize: [INITIALIZED] });
  expect((await done).greeting).toMatchObject({ era: "legacy", protocolVersion: "2025-06-18", title: "old" });
  expect(asked).toEqual(["initialize"]);
  const remote = met({ initialize: [INITIALIZED] }, { known: "legacy", http: true });
  expect((await remote.done).greeting.era).toBe("legacy");
  expect([remote.asked, remote.spoken]).toEqual([["initialize"], [undefined]]);
});

test("over HTTP a child that nothing is known of is asked in the way of the new era first", async () => {
  const both = met({ "server/discover": [DISCOVERED], initialize: [INITIALIZED] }, { http: true });
  expect((await both.done).greeting.era).toBe("2026");
  expect([both.asked, both.spoken]).toEqual([["server/discover"], ["server/discover"]]);
  for (const refusal of [
    NO_METHOD,
    { failure: new ChildFailure("other", "answered 400") },
    { failure: new ChildFailure("http", "answered 500") },
  ]) {
    const old = met({ "server/discover": [refusal], initialize: [INITIALIZED] }, { http: true });
    expect((await old.done).greeting.era).toBe("legacy");
    expect([old.asked, old.spoken]).toEqual([
      ["server/discover", "initialize"],
      ["server/discover", undefined],
    ]);
  }
  const failure = new ChildFailure("auth", "wants a login");
  const locked = met({ "server/discover": [{ failure }] }, { http: true });
  await expect(locked.done).rejects.toBe(failure);
  expect(locked.asked).toEqual(["server/discover"]);
});

test.each([
  ["an unknown method", NO_METHOD],
  ["another version", { error: { code: -32022, message: "no", data: { supported: ["2026-07-28"] } } }],
  ["invalid params", { error: { code: -32602, message: "no envelope" } }],
  ["a bare status", { failure: new ChildFailure("other", "answered 400") }],
])("who refuses the handshake as %s is asked in the other way", async (_, refusal) => {
  const { done, asked, spoken } = met(
    { initialize: [refusal], "server/discover": [DISCOVERED] },
    { known: "legacy", http: true },
  );
  const { greeting } = await done;
  expect({ ...greeting, capabilities: fromRaw(greeting.capabilities) }).toEqual({
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

test("who knows neither is told of by what it said to the handshake", async () => {
  const neither = met({
    initialize: [{ error: { code: 1, message: "go away" } }],
    "server/discover": [NO_METHOD],
  });
  await expect(neither.done).rejects.toThrow("refused the handshake: go away");
  const strange = met({
    initialize: [NO_METHOD],
    "server/discover": [{ result: { supportedVersions: ["2030-01-01"] } }],
  });
  await expect(strange.done).rejects.toThrow("refused the handshake");
});

test.each([
  new ChildFailure("offline", "cannot be reached"),
  new ChildFailure("auth", "wants a login"),
  new ChildFailure("other", "never sent", { unsent: true }),
])("what is no refusal is no reason to ask otherwise: $message", async (failure) => {
  const { done, asked } = met({ initialize: [{ failure }] });
  await expect(done).rejects.toBe(failure);
  expect(asked).toEqual(["initialize"]);
});

test("one that is known to speak the new era is asked so at once; a mere doubt about versions is cleared", async () => {
  const sure = met({ "server/discover": [DISCOVERED] }, { known: "2026" });
  expect((await sure.done).greeting.era).toBe("2026");
  expect(sure.asked).toEqual(["server/discover"]);
  const doubt = { error: { code: -32022, message: "?", data: { supported: ["2026-07-28"] } } };
  const unsure = met({ "server/discover": [doubt, DISCOVERED] }, { known: "2026" });
  expect((await unsure.done).greeting.era).toBe("2026");
});

test("one that no longer speaks it, or says nothing to it, is met with a handshake", async () => {
  const known = { known: "2026", http: true };
  const changed = met({ "server/discover": [NO_METHOD], initialize: [INITIALIZED] }, known);
  expect((await changed.done).greeting.era).toBe("legacy");
  expect(changed.spoken).toEqual(["server/discover", undefined]);
  const silent = met({ initialize: [INITIALIZED] }, known);
  await new Promise((resolve) => setImmediate(resolve));
  expect(silent.asked).toEqual(["server/discover"]);
  silent.clock.advance(5_000);
  expect((await silent.done).greeting.era).toBe("legacy");
});

test("giving up ends it at once", async () => {
  const { done, opening, asked } = met({}, { known: "2026" });
  opening.abort(new Error("too slow"));
  await expect(done).rejects.toThrow("too slow");
  expect(asked).toEqual(["server/discover"]);
});

import { describe, expect, test } from "vitest";
import type { Origin, Uplink } from "../kernel/call.ts";
import { LOCAL } from "../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import type { Severity } from "../kernel/severity.ts";
import { Audience, type ConnectedChild } from "./audience.ts";
import { closed } from "./breaker.ts";
import { claimOf } from "./claim.ts";

interface Member extends Origin {
  readonly received: unknown[];
}

function member(session: string, id = LOCAL.principal.id): Member {
  const received: unknown[] = [];
  const principal = { ...LOCAL.principal, id };
  return { ...LOCAL, principal, session, capabilities: EMPTY_OBJECT, received, uplink: recorder(received) };
}

function recorder(received: unknown[]): Uplink {
  return {
    notify: (method, params) => void received.push([method, params && fromRaw(params)]),
    request: () => Promise.reject(new Error("nobody there")),
  };
}

/** A child that accepts everything and records it. */
function child(logs = true): ConnectedChild & { readonly asked: unknown[] } {
  const asked: unknown[] = [];
  const note = (method: string, params: Raw | undefined): void =>
    void asked.push([method, params && fromRaw(params)]);
  return {
    logs,
    asked,
    notify: note,
    ask(method, params) {
      note(method, params);
      return Promise.resolve(EMPTY_OBJECT);
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("log levels", () => {
  test("the child is told the lowest level of all sessions when it changes, one request at a time, and again on a new connection", async () => {
    const levels = new Map<string, Severity>([["a", "error"]]);
    const audience = new Audience((session) => levels.get(session));
    const first = child();
    audience.join(member("a"));
    audience.attach(first);
    audience.join(member("silent"));
    for (let n = 0; n < 100; n++) {
      levels.set("a", n % 2 === 0 ? "alert" : "error");
      audience.updateLogLevel();
    }
    levels.set("b", "debug");
    audience.join(member("b"));
    await turn();
    levels.set("a", "info");
    audience.updateLogLevel();
    audience.leave("b");
    await turn();
    const said = (level: Severity) => ["logging/setLevel", { level }];
    expect(first.asked).toEqual([said("error"), said("debug"), said("info")]);

    audience.detach(first);
    levels.set("a", "alert");
    audience.updateLogLevel();
    const second = child();
    audience.attach(second);
    expect([first.asked.length, second.asked]).toEqual([3, [said("alert")]]);
  });

  test("a child without the logging capability is told no level", () => {
    const audience = new Audience(() => "error");
    const connected = child(false);
    audience.join(member("a"));
    audience.attach(connected);
    expect(connected.asked).toEqual([]);
  });

  test("a session gets no messages below its level, but gets those without a known level", () => {
    const audience = new Audience((session) => (session === "a" ? "warning" : undefined));
    const wants = (session: string, level: unknown) => audience.wantsLog(session, toRaw({ level }));
    expect(wants("a", "info")).toBe(false);
    expect(wants("a", "warning")).toBe(true);
    expect(wants("a", "emergency")).toBe(true);
    expect(wants("a", "unheard of")).toBe(true);
    expect(audience.wantsLog("a", undefined)).toBe(true);
    expect(wants("b", "debug")).toBe(true);
  });
});

test("a new connection gets the confirmed subscriptions, and their sessions are told that the resource may have changed", async () => {
  const audience = new Audience(() => undefined);
  const [a, b] = [member("a"), member("b")];
  for (const origin of [a, b]) audience.join(origin);
  audience.subscriptions.add("x://1", "a", a.uplink);
  audience.subscriptions.confirm("x://1", "a");
  audience.subscriptions.add("x://2", "b", b.uplink);
  const connected = child();
  audience.attach(connected);
  await turn();
  expect(connected.asked).toEqual([["resources/subscribe", { uri: "x://1" }]]);
  expect(a.received).toEqual([["notifications/resources/updated", { uri: "x://1" }]]);
  expect(b.received).toEqual([]);
  for (const params of [undefined, toRaw({}), toRaw({ uri: 7 }), toRaw({ uri: "x://3" })])
    audience.resourceUpdated(params);
  audience.leave("a");
  expect(connected.asked.at(-1)).toEqual(["resources/unsubscribe", { uri: "x://1" }]);
  expect([a.received.length, audience.empty, audience.has("b")]).toEqual([1, false, true]);
});

test("a notification goes once to each session, and to the caller on the uplink of its call", () => {
  const audience = new Audience(() => undefined);
  const [a, b] = [member("a"), member("b")];
  for (const origin of [a, b, a]) audience.join(origin);
  const onCall: unknown[] = [];
  const claim = claimOf({ origin: a, uplink: recorder(onCall), repeat: "safe" }, closed);
  audience.forward("notifications/new", toRaw([1]), { uplink: claim.uplink, claims: [claim] });
  audience.forward("notifications/new", undefined, { refusal: "nobody knows" });
  const once = ["notifications/new", [1]];
  const again = ["notifications/new", undefined];
  expect([onCall, a.received, b.received]).toEqual([[once], [again], [once, again]]);
});

test("a notification caused by one principal is not sent to another", () => {
  const audience = new Audience(() => undefined);
  const [a, alsoA, b] = [member("a"), member("also a"), member("b", "bob")];
  for (const origin of [a, alsoA, b]) audience.join(origin);
  const claim = claimOf({ origin: a, uplink: a.uplink, repeat: "safe" }, closed);
  audience.forward("notifications/new", undefined, { uplink: claim.uplink, claims: [claim] });
  expect([a.received.length, alsoA.received.length, b.received.length]).toEqual([1, 1, 0]);
  audience.forward("notifications/new", undefined, { refusal: "nobody knows" });
  expect([a.received.length, alsoA.received.length, b.received.length]).toEqual([1, 1, 0]);
  audience.leave("b");
  audience.forward("notifications/new", undefined, { refusal: "nobody knows" });
  expect([a.received.length, alsoA.received.length, b.received.length]).toEqual([2, 2, 0]);
});

test("a client that comes from another connection keeps its subscriptions", () => {
  const audience = new Audience(() => undefined);
  const connected = child();
  audience.attach(connected);
  const a = member("a");
  audience.adopt(a, [["x://1", a.uplink]]);
  expect(connected.asked).toEqual([["resources/subscribe", { uri: "x://1" }]]);
  audience.resourceUpdated(toRaw({ uri: "x://1" }));
  expect(a.received).toHaveLength(1);
  expect(audience.subscriptions.by("a")).toEqual([["x://1", a.uplink]]);
});

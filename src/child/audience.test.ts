import { describe, expect, test } from "vitest";
import type { Origin, Uplink } from "../kernel/call.ts";
import { LOCAL } from "../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import type { Severity } from "../kernel/severity.ts";
import { Audience, type ChildLine } from "./audience.ts";
import { closed } from "./breaker.ts";
import { claimOf } from "./claim.ts";

interface Listener extends Origin {
  readonly heard: unknown[];
}

function listener(session: string, id = LOCAL.principal.id): Listener {
  const heard: unknown[] = [];
  const principal = { ...LOCAL.principal, id };
  return { ...LOCAL, principal, session, capabilities: EMPTY_OBJECT, heard, uplink: hearing(heard) };
}

function hearing(heard: unknown[]): Uplink {
  return {
    notify: (method, params) => void heard.push([method, params && fromRaw(params)]),
    request: () => Promise.reject(new Error("nobody there")),
  };
}

/** A child that does as told and remembers it. */
function child(logs = true): ChildLine & { readonly asked: unknown[] } {
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
  test("the child hears the lowest that anyone wants, when it changes, and anew over a new link", () => {
    const levels = new Map<string, Severity>([["a", "error"]]);
    const audience = new Audience((session) => levels.get(session));
    const first = child();
    audience.join(listener("a"));
    audience.attach(first);
    audience.join(listener("silent"));
    levels.set("b", "debug");
    audience.join(listener("b"));
    levels.set("a", "info");
    audience.relevel();
    audience.leave("b");
    const said = (level: Severity) => ["logging/setLevel", { level }];
    expect(first.asked).toEqual([said("error"), said("debug"), said("info")]);

    audience.detach(first);
    levels.set("a", "alert");
    audience.relevel();
    const second = child();
    audience.attach(second);
    expect([first.asked.length, second.asked]).toEqual([3, [said("alert")]]);
  });

  test("a child that cannot be told is not", () => {
    const audience = new Audience(() => "error");
    const line = child(false);
    audience.join(listener("a"));
    audience.attach(line);
    expect(line.asked).toEqual([]);
  });

  test("nobody hears less grave messages than it wants; what has no known level is heard", () => {
    const audience = new Audience((session) => (session === "a" ? "warning" : undefined));
    const wants = (session: string, level: unknown) => audience.wants(session, toRaw({ level }));
    expect(wants("a", "info")).toBe(false);
    expect(wants("a", "warning")).toBe(true);
    expect(wants("a", "emergency")).toBe(true);
    expect(wants("a", "unheard of")).toBe(true);
    expect(audience.wants("a", undefined)).toBe(true);
    expect(wants("b", "debug")).toBe(true);
  });
});

test("a new link is told of standing subscriptions, and who has them that something may have changed", async () => {
  const audience = new Audience(() => undefined);
  const [a, b] = [listener("a"), listener("b")];
  for (const origin of [a, b]) audience.join(origin);
  audience.subscriptions.add("x://1", "a", a.uplink);
  audience.subscriptions.agreed("x://1", "a");
  audience.subscriptions.add("x://2", "b", b.uplink);
  const line = child();
  audience.attach(line);
  await turn();
  expect(line.asked).toEqual([["resources/subscribe", { uri: "x://1" }]]);
  expect(a.heard).toEqual([["notifications/resources/updated", { uri: "x://1" }]]);
  expect(b.heard).toEqual([]);
  for (const params of [undefined, toRaw({}), toRaw({ uri: 7 }), toRaw({ uri: "x://3" })])
    audience.updated(params);
  audience.leave("a");
  expect(line.asked.at(-1)).toEqual(["resources/unsubscribe", { uri: "x://1" }]);
  expect([a.heard.length, audience.empty, audience.has("b")]).toEqual([1, false, true]);
});

test("what is for everyone goes once to each, to the caller on the way of its call", () => {
  const audience = new Audience(() => undefined);
  const [a, b] = [listener("a"), listener("b")];
  for (const origin of [a, b, a]) audience.join(origin);
  const onCall: unknown[] = [];
  const claim = claimOf({ origin: a, uplink: hearing(onCall), repeat: "safe" }, closed);
  audience.tell("notifications/new", toRaw([1]), { uplink: claim.uplink, claims: [claim] });
  audience.tell("notifications/new", undefined, { refusal: "nobody knows" });
  const once = ["notifications/new", [1]];
  const again = ["notifications/new", undefined];
  expect([onCall, a.heard, b.heard]).toEqual([[once], [again], [once, again]]);
});

test("what was said because of one principal is not for another", () => {
  const audience = new Audience(() => undefined);
  const [a, alsoA, b] = [listener("a"), listener("also a"), listener("b", "bob")];
  for (const origin of [a, alsoA, b]) audience.join(origin);
  const claim = claimOf({ origin: a, uplink: a.uplink, repeat: "safe" }, closed);
  audience.tell("notifications/new", undefined, { uplink: claim.uplink, claims: [claim] });
  expect([a.heard.length, alsoA.heard.length, b.heard.length]).toEqual([1, 1, 0]);
  audience.tell("notifications/new", undefined, { refusal: "nobody knows" });
  expect([a.heard.length, alsoA.heard.length, b.heard.length]).toEqual([1, 1, 0]);
  audience.leave("b");
  audience.tell("notifications/new", undefined, { refusal: "nobody knows" });
  expect([a.heard.length, alsoA.heard.length, b.heard.length]).toEqual([2, 2, 0]);
});

test("a client that comes from another connection brings along what it subscribed to", () => {
  const audience = new Audience(() => undefined);
  const line = child();
  audience.attach(line);
  const a = listener("a");
  audience.take(a, [["x://1", a.uplink]]);
  expect(line.asked).toEqual([["resources/subscribe", { uri: "x://1" }]]);
  audience.updated(toRaw({ uri: "x://1" }));
  expect(a.heard).toHaveLength(1);
  expect(audience.subscriptions.by("a")).toEqual([["x://1", a.uplink]]);
});

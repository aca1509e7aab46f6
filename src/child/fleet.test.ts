import { afterEach, expect, test } from "vitest";
import { flushPending, originOf, ScriptedServer, specOf } from "../../test/support/scripted-server.ts";
import { emptyConfig } from "../config/check.ts";
import type { Config, ServerSpec } from "../config/spec.ts";
import type { Call } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { fromRaw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { Fleet } from "./fleet.ts";

const configOf = (...specs: ServerSpec[]): Config => ({
  ...emptyConfig("", {}),
  servers: new Map(specs.map((spec) => [spec.name, spec])),
});
const open: Fleet[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((fleet) => fleet.destroy()));
});

function setUp(...names: string[]) {
  const servers = new Map<string, ScriptedServer>();
  const fleet = new Fleet(configOf(...names.map((name) => specOf(name))), {
    clock: new ManualClock(),
    log: silentLog,
    connector: async ({ name }) => {
      const server = servers.get(name) ?? new ScriptedServer();
      servers.set(name, server);
      return server;
    },
    eraOf: () => undefined,
    onHandshake: () => Promise.resolve(),
    onListChanged: () => {},
  });
  open.push(fleet);
  const origin = originOf("s");
  const call = (server: string): Call => ({
    server,
    method: "tools/call",
    params: toRaw({}),
    origin,
    signal: new CallSignal(),
    deadline: Number.POSITIVE_INFINITY,
    repeat: "safe",
    uplink: origin.uplink,
  });
  return { fleet, servers, origin, call };
}

test("the fleet starts no server by itself, and a crash of one does not affect another", async () => {
  const { fleet, servers, origin, call } = setUp("a", "b");
  expect(servers.size).toBe(0);
  (await fleet.connect("a", origin)).release();
  expect([fleet.connected("a", origin), fleet.connected("b", origin), fleet.connected("no", origin)]).toEqual(
    [true, false, false],
  );
  servers.get("a")?.last.die();
  const answer = fleet.handle(call("b"));
  await flushPending();
  servers.get("b")?.last.answerNext({ b: 1 });
  expect(fromRaw(await answer)).toEqual({ b: 1 });
  expect(fleet.status().map(({ name, connected }) => [name, connected])).toEqual([
    ["a", false],
    ["b", true],
  ]);
});

test("a config change lets a removed server finish its calls, adds a new one and keeps the connection of an unchanged one", async () => {
  const { fleet, servers, origin, call } = setUp("old", "same");
  (await fleet.connect("same", origin)).release();
  const under = fleet.handle(call("old"));
  await flushPending();
  fleet.apply(configOf(specOf("same"), specOf("new")));
  expect(fleet.status().map(({ name }) => name)).toEqual(["same", "new"]);
  expect(() => fleet.handle(call("old"))).toThrow(expect.objectContaining({ code: "server_not_found" }));
  servers.get("old")?.last.answerNext({ late: true });
  expect(fromRaw(await under)).toEqual({ late: true });
  await flushPending();
  expect(servers.get("old")?.last.closed).toBe(true);
  (await fleet.connect("same", origin)).release();
  expect(servers.get("same")?.links).toHaveLength(1);
});

test("a stopped fleet refuses calls and closes all connections", async () => {
  const { fleet, servers, origin, call } = setUp("a");
  (await fleet.connect("a", origin)).release();
  const stopped = fleet.destroy();
  expect(() => fleet.handle(call("a"))).toThrow("stopping");
  await stopped;
  expect(servers.get("a")?.last.closed).toBe(true);
});

test("a notification of a client goes only to servers that it is connected to", async () => {
  const { fleet, servers, origin } = setUp("a", "b");
  (await fleet.connect("a", origin)).release();
  fleet.notify(origin, "notifications/odd", undefined);
  fleet.notify(origin, "notifications/roots/list_changed", undefined);
  fleet.notify(originOf("stranger"), "notifications/odd", undefined);
  expect(servers.get("a")?.last.notes).toEqual([
    "notifications/initialized",
    "notifications/odd",
    "notifications/roots/list_changed",
  ]);
  expect(servers.has("b")).toBe(false);
});

import { expect, onTestFinished, test } from "vitest";
import { flushPending, originOf, ScriptedServer, specOf } from "../../test/support/scripted-server.ts";
import { until } from "../../test/support/until.ts";
import { emptyConfig } from "../config/check.ts";
import type { Config, ServerSpec } from "../config/spec.ts";
import type { Call } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { fromRaw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { Fleet, type FleetParts } from "./fleet.ts";
import { LazyFleet } from "./lazy-fleet.ts";

const configOf = (...specs: ServerSpec[]): Config => ({
  ...emptyConfig("", {}),
  servers: new Map(specs.map((spec) => [spec.name, spec])),
});
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

function setUp(...specs: ServerSpec[]) {
  const server = new ScriptedServer();
  const parts: FleetParts = {
    clock: new ManualClock(),
    log: silentLog,
    connector: async () => server,
    eraOf: () => undefined,
    onHandshake: () => Promise.resolve(),
    onListChanged: () => {},
  };
  const fleet = new LazyFleet(configOf(...specs), parts);
  onTestFinished(() => fleet.destroy());
  return { fleet, server, parts };
}

test("servers that nobody has used have the status that the fleet gives them", () => {
  const specs = [
    specOf("a"),
    specOf("three", { instances: 3 } as Partial<ServerSpec>),
    specOf("own", { perAccount: "oauth" } as unknown as Partial<ServerSpec>),
  ];
  const { fleet, parts } = setUp(...specs);
  const loaded = new Fleet(configOf(...specs), parts);
  for (const asker of [undefined, origin]) expect(fleet.status(asker)).toEqual(loaded.status(asker));
  expect(fleet.counts()).toEqual(loaded.counts());
  expect([fleet.connected("a", origin), fleet.installing("a"), fleet.heldBy("s")]).toEqual([
    false,
    false,
    [],
  ]);
});

test("the first call loads the fleet, with the config of that moment", async () => {
  const { fleet, server } = setUp(specOf("old"));
  fleet.apply(configOf(specOf("new")));
  const answer = fleet.handle(call("new"));
  await until(() => server.links[0]?.calls.length === 1);
  server.last.answerNext({ yes: 1 });
  expect(fromRaw(await answer)).toEqual({ yes: 1 });
  expect(fleet.status()).toMatchObject([{ name: "new", connected: true }]);
  expect(fleet.heldBy("s")).toEqual(["new"]);
  expect(() => fleet.handle(call("old"))).toThrow(expect.objectContaining({ code: "server_not_found" }));
});

test("a fleet that stopped before its first use refuses calls and starts nothing", async () => {
  const { fleet, server } = setUp(specOf("a"));
  await fleet.destroy();
  await expect(fleet.handle(call("a"))).rejects.toThrow("stopping");
  await expect(fleet.connect("a", origin)).rejects.toThrow("stopping");
  expect(server.links).toEqual([]);
});

test("a fleet that stops while it is loaded leaves nothing behind", async () => {
  const { fleet, server } = setUp(specOf("a"));
  const refused = fleet.handle(call("a")).catch((error: Error) => error.message);
  await fleet.destroy();
  expect(await refused).toContain("stopping");
  await flushPending();
  expect(server.links.every(({ closed }) => closed)).toBe(true);
});

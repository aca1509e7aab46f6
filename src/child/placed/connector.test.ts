/** The connector for servers that may run only once, at the replica that runs one and through another. */
import { Agent, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { stdioHarness } from "../../../test/support/stdio.ts";
import { until } from "../../../test/support/until.ts";
import { emptyConfig } from "../../config/check.ts";
import type { ServerSpec } from "../../config/spec.ts";
import { PlacedServers } from "../../engine/placed-servers.ts";
import { systemClock } from "../../engine/system-clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { connectorContract, type Subject } from "../connector.contract.ts";
import { Fleet } from "../fleet.ts";
import type { Connector } from "../link.ts";
import { createPlacedConnector } from "./connector.ts";
import type { Place, Placement } from "./placement.ts";

const FIXTURE = fileURLToPath(new URL("../../../test/fixture/child.mjs", import.meta.url));
const NOWHERE = "nowhere";
const parts = { log: silentLog, clock: systemClock, maxMessageBytes: 1 << 20 };

function placed(connector: Connector, place: () => Place): Connector {
  const placement: Placement = {
    find: async (server, signal) => {
      if (signal.aborted) throw signal.reason;
      return server === NOWHERE ? { at: "nowhere", reason: "no replica runs it" } : place();
    },
  };
  return createPlacedConnector({ ...parts, placement, connector: async () => connector });
}

async function here(): Promise<Subject> {
  const { connector, spec, pids } = stdioHarness([], { args: [FIXTURE] });
  const joined = new Set<object>();
  const place: Place = {
    at: "here",
    valid: true,
    leftMs: 60_000,
    guardMs: 60_000,
    join(link) {
      joined.add(link);
      return () => joined.delete(link);
    },
  };
  return {
    connector: placed(connector, () => place),
    spec,
    unreachable: { ...spec, name: NOWHERE },
    kill: () => {
      for (const pid of pids()) process.kill(pid, "SIGKILL");
    },
    gone: async () =>
      void (await until(() => pids().length === 0 && joined.size === 0, { what: "no processes" })),
  };
}

/** The other replica: a fleet with the real server, and a listener for links to it. */
async function replica(connector: Connector, spec: ServerSpec) {
  const config = { ...emptyConfig("", {}), servers: new Map([[spec.name, spec]]) };
  const fleet = new Fleet(config, {
    ...parts,
    connector: async () => connector,
    eraOf: () => undefined,
    onHandshake: () => Promise.resolve(),
    onListChanged: () => {},
  });
  const servers = new PlacedServers({ fleet, clock: systemClock, runs: () => true, taskOf: () => undefined });
  const listener = createServer((request, response) => servers.handle(spec.name, "b", { request, response }));
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const stop = (): void => {
    listener.close();
    listener.closeAllConnections();
  };
  onTestFinished(async () => {
    stop();
    servers.end();
    await fleet.destroy();
  });
  const sockets = (): Promise<number> =>
    new Promise((resolve) => listener.getConnections((_, count) => resolve(count ?? 0)));
  return { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`, stop, sockets };
}

async function elsewhere(): Promise<Subject> {
  const { connector, spec } = stdioHarness([], { args: [FIXTURE] });
  const { url, stop, sockets } = await replica(connector, spec);
  const joined = new Set<object>();
  const place = (): Place => ({
    at: "replica",
    replica: "a",
    url,
    headers: {},
    agent: new Agent({ keepAlive: true }),
    join(link) {
      joined.add(link);
      return () => joined.delete(link);
    },
  });
  return {
    connector: placed(connector, place),
    spec,
    unreachable: { ...spec, name: NOWHERE },
    kill: stop,
    gone: async () =>
      void (await until(async () => (await sockets()) === 0 && joined.size === 0, { what: "no sockets" })),
  };
}

connectorContract("a server that may run only once, here,", here);
connectorContract("a server that may run only once, at another replica,", elsewhere);

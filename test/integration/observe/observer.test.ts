/**
 * The memory of the observer stays bounded with invented names of callers and with collectors, stores and
 * watchers that hang.
 */
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/engine/system-clock.ts";
import { newTrail, type Origin, type TraceContext } from "../../../src/kernel/call.ts";
import { type Clock, ManualClock } from "../../../src/kernel/clock.ts";
import { type CallEnded, Events } from "../../../src/kernel/events.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { ANONYMOUS } from "../../../src/kernel/principal.ts";
import { EMPTY_OBJECT, toRaw } from "../../../src/kernel/raw.ts";
import { statsAnswer } from "../../../src/observe/live/stats-figures.ts";
import { Observer } from "../../../src/observe/observer.ts";
import { type OtelEnvironment, otelEnvironment } from "../../../src/observe/traces/otel-environment.ts";
import { startTracing } from "../../../src/observe/traces/tracing.ts";
import type { Audit } from "../../../src/store/store.ts";
import type { Sums } from "../../../src/store/sum-rows.ts";
import { cutProxy } from "../../support/cut-proxy.ts";
import { collector } from "../../support/otlp.ts";
import {
  noPostgres,
  postgresAddress,
  postgresDatabase,
  sqliteDatabase,
} from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const MB = 1_048_576;
/** Each test reports many thousands of calls, and other tests run at the same time. */
const LONG_TIMEOUT = { timeout: 240_000 };

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/** Writes nothing: these tests look at what is kept in memory. */
const NO_SUMS = { add: async () => {}, prune: async () => {} } as unknown as Sums;

function observer(audit: Audit, { clock = systemClock as Clock, days = 30 } = {}) {
  const events = new Events();
  const watching = new Observer({
    events,
    audit,
    sums: NO_SUMS,
    // A catalog that knows every server and tool.
    names: {
      endpoint: (uuid) => ({ name: `endpoint ${uuid}`, surface: "meta" }),
      namespace: () => undefined,
      server: (uuid) => `server ${uuid}`,
      transport: () => undefined,
      hasTool: () => true,
    },
    clock,
    log: silentLog,
    options: { days },
    gauges: {
      connections: () => ({ states: {}, breakers: {}, waiting: 0 }),
      sessions: () => new Map(),
      revision: () => 1,
      storeUp: () => true,
    },
  });
  onTestFinished(() => watching.close());
  return { events, watching };
}

function originOf(name: string): Origin {
  const principal = { id: name, kind: "key", name, roles: [], groups: [] } as const;
  const uplink = { notify: () => {}, request: () => Promise.reject(new Error("nobody")) };
  const client = toRaw({ name: `client ${name}`, version: "1" });
  return { endpoint: name, principal, session: name, capabilities: EMPTY_OBJECT, client, uplink };
}

/** A call with unique names. */
function call(events: Events, i: number, origin: Origin = originOf(`${i}`), trace?: TraceContext): void {
  const common = {
    id: i,
    origin,
    server: `s${i}`,
    tool: `tool ${i}`,
    trail: { ...newTrail(`layer ${i}`), trace },
  };
  events.emit({ type: "call.begun", at: Date.now(), ...common });
  const ended: CallEnded = {
    type: "call.ended",
    at: Date.now(),
    ...common,
    durationMs: 1,
    outcome: "error",
    code: `code ${i}`,
    arguments: toRaw({ [`argument ${i}`]: i }),
    requestBytes: 10,
    resultBytes: 10,
  };
  events.emit(ended);
}

test(
  "20,000 different tools, clients and errors are all counted, but do not create 20,000 series each",
  LONG_TIMEOUT,
  async () => {
    const store = await sqliteDatabase().open();
    const { events, watching } = observer(store.audit);
    for (let i = 0; i < 20_000; i++) {
      call(events, i);
      if (i % 1_000 === 0) await new Promise(setImmediate);
    }
    const lines = watching.metrics.text().split("\n");
    expect(lines.length).toBeLessThan(50_000);
    const sum = (name: string) =>
      lines
        .filter((line) => line.startsWith(`${name}{`))
        .reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
    for (const name of ["metamcp_calls_total", "metamcp_call_errors_total", "metamcp_refusals_total"])
      expect([name, sum(name)]).toEqual([name, 20_000]);
    const { totals, rows } = statsAnswer([watching.stats.figures("hour", "tool", Date.now())]);
    expect([totals.calls, totals.errors]).toEqual([20_000, 20_000]);
    expect(rows.length).toBeLessThan(2_000);
    expect([...watching.calls.list()]).toHaveLength(1_000);
    expect(lines.some((line) => /client \d/.test(line))).toBe(false);
  },
);

test(
  "a collector that hangs does not block calls, memory stays bounded, and dropped spans are counted",
  LONG_TIMEOUT,
  async () => {
    const hanging = await collector();
    hanging.answer = () => {};
    const environment = otelEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: hanging.url }) as OtelEnvironment;
    const store = await sqliteDatabase().open();
    const { events, watching } = observer(store.audit);
    const tracing = startTracing(environment, {
      events,
      observer: watching,
      clock: systemClock,
      log: silentLog,
    });
    onTestFinished(() => tracing.close());
    const origin = originOf("one");
    const trace = events.tracer?.({ params: undefined });
    call(events, 0, origin, trace);
    await until(() => hanging.requests.length === 1);
    const before = heap();
    for (let i = 0; i < 40_000; i++) call(events, i, origin, trace);
    expect(tracing.lost).toBeGreaterThan(20_000);
    expect(heap() - before).toBeLessThan(150 * MB);
    expect(hanging.requests).toHaveLength(1);
  },
);

describe.skipIf(noPostgres)(`on Postgres${noPostgres ? ` (left out: ${noPostgres})` : ""}`, () => {
  test(
    "a store that hangs does not block calls, memory stays bounded, and dropped records are counted",
    LONG_TIMEOUT,
    async () => {
      const { host, port, url } = postgresAddress();
      const proxy = await cutProxy({ host, port });
      const through = new URL(url);
      through.hostname = "127.0.0.1";
      through.port = String(proxy.port);
      const store = await (await postgresDatabase(through.href)).open();
      const { events, watching } = observer(store.audit);
      const origin = originOf("one");
      for (let i = 0; i < 1_000; i++) call(events, i, origin);
      proxy.stall();
      const before = heap();
      // No call waits, because all of them run before any I/O of the store.
      for (let i = 0; i < 60_000; i++) call(events, i, origin);
      const { queued, lost } = watching.audit.state;
      expect(queued).toBeLessThanOrEqual(50_000);
      expect(queued + lost).toBeGreaterThanOrEqual(60_000);
      expect(heap() - before).toBeLessThan(150 * MB);
      expect(watching.metrics.text()).toContain(`metamcp_audit_lost_total ${lost}\n`);
      proxy.flow();
    },
  );
});

test(
  "a hundred watchers that do not read do not block calls, and memory stays bounded",
  LONG_TIMEOUT,
  async () => {
    const store = await sqliteDatabase().open();
    const clock = new ManualClock();
    const { events, watching } = observer(store.audit, { clock });
    const outlets: ServerResponse[] = [];
    const server = createServer((_, response) => {
      outlets.push(response.writeHead(200));
      watching.feed.add(response, { reader: () => ANONYMOUS, maySee: () => true }, {});
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const sockets: Socket[] = [];
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const watch = async (): Promise<Socket> => {
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      sockets.push(socket);
      socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
      await until(() => outlets.length === sockets.length, { what: "a watcher" });
      return socket;
    };
    while (outlets.length < 100) await watch();
    expect(watching.feed.fullFor(ANONYMOUS)).toBe(true);
    let read = "";
    sockets[0]?.setEncoding("utf8").on("data", (text: string) => (read = (read + text).slice(-10_000)));

    const before = heap() + process.memoryUsage().arrayBuffers;
    const origin = originOf("one");
    for (let i = 0; i < 20_000; i++) {
      call(events, i, origin);
      if (i % 100 === 0) await new Promise(setImmediate);
    }
    for (const { writableLength } of outlets) expect(writableLength).toBeLessThan(MB);
    expect(heap() + process.memoryUsage().arrayBuffers - before).toBeLessThan(150 * MB);
    call(events, 20_000, origin);
    clock.advance(50);
    await until(() => read.includes('"tool":"tool 20000"'), { what: "the last call, to who reads" });

    for (let second = 0; second <= 61; second++) clock.advance(1_000);
    expect(outlets.filter(({ destroyed }) => destroyed)).toHaveLength(99);
    expect(watching.feed.fullFor({ ...ANONYMOUS, id: "other", roles: ["admin"] })).toBe(false);
  },
);

test("records older than the configured age are removed at runtime, and the rest can be verified", async () => {
  const store = await sqliteDatabase().open();
  const clock = new ManualClock();
  const DAY_MS = 86_400_000;
  const ages = [40, 8, 6, 0].map((days) => Date.now() - days * DAY_MS);
  for (const at of ages) await store.audit.append([{ at, body: JSON.stringify({ at }) }]);
  observer(store.audit, { clock, days: 7 });
  const left = async () => (await store.audit.query()).items.map(({ at }) => at);
  expect(await left()).toHaveLength(4);
  clock.advance(60_000);
  await until(async () => (await left()).length === 2, { what: "the first round" });
  expect(await left()).toEqual([ages[3], ages[2]]);
  expect(await store.audit.verify()).toMatchObject({ ok: true });
});

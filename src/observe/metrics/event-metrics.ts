/** Updates metrics from events, and reads gauges at each scrape. */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { CallEnded, EngineEvent } from "../../kernel/events.ts";
import { IMPLEMENTATION } from "../../kernel/version.ts";
import type { AuditState } from "../audit/audit-log.ts";
import { type CallGroup, OTHER } from "../call-groups.ts";
import { errorType } from "../call-row.ts";
import type { CallRow } from "../call-schema.ts";
import type { Names } from "../names.ts";
import { Metrics, type Series } from "./metrics.ts";

/** Current values that are read at a scrape instead of being counted. */
export interface Gauges {
  connections(): {
    readonly states: Readonly<Record<string, number>>;
    readonly breakers: Readonly<Record<string, number>>;
    readonly waiting: number;
  };
  /** Sessions by name of the endpoint. */
  sessions(): ReadonlyMap<string, number>;
  revision(): number;
  audit(): AuditState;
  storeUp(): boolean;
  limitsDivided?(): boolean;
  spansLost?(): number;
}

const TOOLS = "tools/call";
const MS = 1_000;
const NS = 1e9;

/** The cached series of a group: by outcome, and by error type. */
interface GroupSeries {
  readonly calls: { [outcome in CallRow["outcome"]]?: Series };
  readonly resultBytes: Series;
  readonly durations: Map<string, DurationSeries>;
}

interface DurationSeries {
  readonly server: Series;
  /** Only if the call reached the server. */
  client?: Series;
}

export class EventMetrics {
  readonly #metrics: Metrics;
  readonly #series = new WeakMap<CallGroup, GroupSeries>();
  readonly #names: Names;
  readonly #gauges: Gauges;
  readonly #lag: IntervalHistogram;
  #inFlight = 0;

  /** `replica` names this gateway in all series, where there may be several replicas. */
  constructor(names: Names, gauges: Gauges, replica?: string) {
    this.#metrics = new Metrics(replica);
    this.#names = names;
    this.#gauges = gauges;
    this.#lag = monitorEventLoopDelay({ resolution: 20 });
    this.#lag.enable();
  }

  close(): void {
    this.#lag.disable();
  }

  callBegun(): void {
    this.#inFlight += 1;
  }

  call(group: CallGroup, row: CallRow, ended: CallEnded): void {
    const metrics = this.#metrics;
    this.#inFlight -= 1;
    const { endpoint, server, tool } = group;
    const { outcome, code, by, attempts } = row;
    const series = this.#seriesOf(group);
    series.calls[outcome] ??= metrics.series("calls", [endpoint.name, server.name, tool, outcome]);
    series.calls[outcome].value += 1;
    series.resultBytes.value += row.resultBytes;
    const failure = errorType(row, ended);
    const durations = series.durations.get(failure) ?? this.#durationsFor(group, series, failure);
    durations.server.observe(row.durationMs / MS);
    const { child } = ended.trail;
    if (child) {
      durations.client ??= metrics.series("clientDuration", operation(group, failure));
      durations.client.observe((child.to - child.from) / MS);
    }
    if (code !== undefined) metrics.add("errors", [endpoint.name, code]);
    if (by !== undefined) metrics.add("refusals", [by]);
    if (attempts !== undefined) metrics.add("attempts", [server.name], attempts - 1);
    if (row.cached) metrics.add("cached", [server.name]);
  }

  #seriesOf(group: CallGroup): GroupSeries {
    const cached = this.#series.get(group);
    if (cached) return cached;
    const labels = [group.endpoint.name, group.server.name];
    const created = {
      calls: {},
      resultBytes: this.#metrics.series("resultBytes", labels),
      durations: new Map(),
    };
    this.#series.set(group, created);
    return created;
  }

  #durationsFor(group: CallGroup, { durations }: GroupSeries, failure: string): DurationSeries {
    const labels = [group.endpoint.name, ...operation(group, failure)];
    const created = { server: this.#metrics.series("serverDuration", labels) };
    durations.set(failure, created);
    return created;
  }

  saved(endpoint: string, tokens: number): void {
    this.#metrics.add("tokensSaved", [this.#endpoint(endpoint)], tokens);
  }

  handle(event: EngineEvent): void {
    const metrics = this.#metrics;
    switch (event.type) {
      case "connection": {
        const server = this.#names.server(event.server) ?? OTHER;
        if (event.restart) metrics.add("restarts", [server]);
        // A connection that was lost later has a duration. It is not a failed connect.
        const failed = event.state === "failed" && event.durationMs === undefined;
        if (event.state === "connected" || failed) metrics.add("connects", [server, event.state]);
        if (event.durationMs !== undefined)
          metrics.observe("connectionDuration", [server], event.durationMs / MS);
        return;
      }
      case "session":
        if (event.durationMs !== undefined)
          metrics.observe("sessionDuration", [this.#endpoint(event.endpoint)], event.durationMs / MS);
        return;
      case "login":
        metrics.add("logins", [event.by, event.outcome]);
        return;
      case "credential":
        metrics.add("refusedCredentials", [event.by, event.endpoint ?? ""], event.count);
        return;
      case "admin":
        metrics.add("adminChanges", [event.object.kind, event.outcome]);
        return;
      case "approval":
      case "breaker":
      case "call.begun":
      case "call.ended":
      case "changed":
      case "egress":
      case "listed":
      case "pool":
      case "revision":
      case "store":
      case "tools":
      case "update":
        return;
    }
  }

  text(): string {
    this.#readGauges();
    return this.#metrics.text();
  }

  #endpoint(uuid: string): string {
    return this.#names.endpoint(uuid)?.name ?? OTHER;
  }

  #readGauges(): void {
    const metrics = this.#metrics;
    const { states, breakers, waiting } = this.#gauges.connections();
    for (const [state, count] of Object.entries(states)) metrics.set("connections", [state], count);
    for (const [state, count] of Object.entries(breakers)) metrics.set("breakers", [state], count);
    metrics.set("waiting", [], waiting);
    metrics.clear("sessions");
    for (const [endpoint, count] of this.#gauges.sessions()) metrics.set("sessions", [endpoint], count);
    const { queued, lost } = this.#gauges.audit();
    metrics.set("auditQueued", [], queued);
    metrics.set("auditLost", [], lost);
    metrics.set("revision", [], this.#gauges.revision());
    metrics.set("storeUp", [], this.#gauges.storeUp() ? 1 : 0);
    metrics.set("limitsDivided", [], this.#gauges.limitsDivided?.() ? 1 : 0);
    metrics.set("spansLost", [], this.#gauges.spansLost?.() ?? 0);
    metrics.set("inFlight", [], this.#inFlight);
    this.#readProcess();
  }

  #readProcess(): void {
    const metrics = this.#metrics;
    for (const [percentile, share] of [
      ["0.5", 50],
      ["0.99", 99],
      ["1", 100],
    ] as const)
      metrics.set("loopLag", [percentile], this.#lag.percentile(share) / NS);
    this.#lag.reset();
    const { user, system } = process.cpuUsage();
    metrics.set("cpu", [], (user + system) / 1e6);
    metrics.set("memory", [], process.memoryUsage.rss());
    metrics.set("started", [], Math.round(Date.now() / MS - process.uptime()));
    metrics.set("build", [IMPLEMENTATION.version], 1);
  }
}

/**
 * The labels of an operation in the OpenTelemetry conventions for MCP: server, tool if it is a tool call,
 * method, error type.
 */
function operation({ server, tool, method }: CallGroup, failure: string): readonly string[] {
  return [server.name, method ? "" : tool, method ?? TOOLS, failure];
}

/** From events to counters, and what is read at the moment of a scrape. */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { CallEnded, EngineEvent } from "../../kernel/events.ts";
import { IMPLEMENTATION } from "../../kernel/version.ts";
import type { AuditState } from "../audit/audit-log.ts";
import { type CallRow, errorType } from "../call-row.ts";
import { type Heading, OTHER } from "../headings.ts";
import type { Names } from "../names.ts";
import { Metrics, type Series } from "./metrics.ts";

/** What is so at the moment, and needs no counting. */
export interface Gauges {
  connections(): {
    readonly states: Readonly<Record<string, number>>;
    readonly breakers: Readonly<Record<string, number>>;
    readonly waiting: number;
  };
  /** By name of the endpoint. */
  sessions(): ReadonlyMap<string, number>;
  revision(): number;
  audit(): AuditState;
  storeUp(): boolean;
  spansLost?(): number;
}

const TOOLS = "tools/call";
const MS = 1_000;
const NS = 1e9;

/** What calls under a heading are counted in, found once: by outcome, and by type of error. */
interface HeadingSeries {
  readonly calls: { [outcome in CallRow["outcome"]]?: Series };
  readonly resultBytes: Series;
  readonly took: Map<string, Took>;
}

interface Took {
  readonly server: Series;
  /** Where the server was asked. */
  client?: Series;
}

export class Counting {
  readonly #metrics = new Metrics();
  readonly #series = new WeakMap<Heading, HeadingSeries>();
  readonly #names: Names;
  readonly #gauges: Gauges;
  readonly #lag: IntervalHistogram;
  #inFlight = 0;

  constructor(names: Names, gauges: Gauges) {
    this.#names = names;
    this.#gauges = gauges;
    this.#lag = monitorEventLoopDelay({ resolution: 20 });
    this.#lag.enable();
  }

  close(): void {
    this.#lag.disable();
  }

  begun(): void {
    this.#inFlight += 1;
  }

  call(heading: Heading, row: CallRow, ended: CallEnded): void {
    const metrics = this.#metrics;
    this.#inFlight -= 1;
    const { endpoint, server, tool } = heading;
    const { outcome, code, by, attempts } = row;
    const series = this.#seriesOf(heading);
    series.calls[outcome] ??= metrics.series("calls", [endpoint.name, server.name, tool, outcome]);
    series.calls[outcome].value += 1;
    series.resultBytes.value += row.resultBytes;
    const failure = errorType(row, ended);
    const took = series.took.get(failure) ?? this.#tookUnder(heading, series, failure);
    took.server.observe(row.durationMs / MS);
    const { child } = ended.trail;
    if (child) {
      took.client ??= metrics.series("clientDuration", operation(heading, failure));
      took.client.observe((child.to - child.from) / MS);
    }
    if (code !== undefined) metrics.add("errors", [endpoint.name, code]);
    if (by !== undefined) metrics.add("refusals", [by]);
    if (attempts !== undefined) metrics.add("attempts", [server.name], attempts - 1);
    if (row.cached) metrics.add("cached", [server.name]);
  }

  #seriesOf(heading: Heading): HeadingSeries {
    const known = this.#series.get(heading);
    if (known) return known;
    const place = [heading.endpoint.name, heading.server.name];
    const made = { calls: {}, resultBytes: this.#metrics.series("resultBytes", place), took: new Map() };
    this.#series.set(heading, made);
    return made;
  }

  #tookUnder(heading: Heading, { took }: HeadingSeries, failure: string): Took {
    const labels = [heading.endpoint.name, ...operation(heading, failure)];
    const made = { server: this.#metrics.series("serverDuration", labels) };
    took.set(failure, made);
    return made;
  }

  saved(endpoint: string, tokens: number): void {
    this.#metrics.add("tokensSaved", [this.#endpoint(endpoint)], tokens);
  }

  hear(event: EngineEvent): void {
    const metrics = this.#metrics;
    switch (event.type) {
      case "connection": {
        const server = this.#names.server(event.server) ?? OTHER;
        if (event.restart) metrics.add("restarts", [server]);
        // One that was lost later has been made.
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
      case "admin":
        metrics.add("adminChanges", [event.object.kind, event.outcome]);
        return;
      case "approval":
      case "breaker":
      case "call.begun":
      case "call.ended":
      case "changed":
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
    this.#read();
    return this.#metrics.text();
  }

  #endpoint(uuid: string): string {
    return this.#names.endpoint(uuid)?.name ?? OTHER;
  }

  #read(): void {
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
    metrics.set("spansLost", [], this.#gauges.spansLost?.() ?? 0);
    metrics.set("inFlight", [], this.#inFlight);
    this.#readProcess();
  }

  #readProcess(): void {
    const metrics = this.#metrics;
    for (const [quantile, share] of [
      ["0.5", 50],
      ["0.99", 99],
      ["1", 100],
    ] as const)
      metrics.set("loopLag", [quantile], this.#lag.percentile(share) / NS);
    this.#lag.reset();
    const { user, system } = process.cpuUsage();
    metrics.set("cpu", [], (user + system) / 1e6);
    metrics.set("memory", [], process.memoryUsage.rss());
    metrics.set("started", [], Math.round(Date.now() / MS - process.uptime()));
    metrics.set("build", [IMPLEMENTATION.version], 1);
  }
}

/** As the conventions for MCP tell one: by server, tool where it is one, method and type of error. */
function operation({ server, tool, method }: Heading, failure: string): readonly string[] {
  return [server.name, method ? "" : tool, method ?? TOOLS, failure];
}

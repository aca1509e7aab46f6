/** From events to counters, and what is read at the moment of a scrape. */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { CallEnded, EngineEvent, ItemMethod } from "../../kernel/events.ts";
import { IMPLEMENTATION } from "../../kernel/version.ts";
import type { AuditState } from "../audit/audit-log.ts";
import { type CallRow, errorType, OWN_SERVER } from "../call-row.ts";
import type { Names } from "../names.ts";
import { Metrics } from "./metrics.ts";

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

const OTHER = "other";
const METHOD = "tools/call";
const MS = 1_000;
const NS = 1e9;

export class Counting {
  readonly #metrics = new Metrics();
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

  /** `known`: the tool exists; what a caller made up has no series of its own. */
  call(row: CallRow, known: boolean, ended: CallEnded): void {
    const metrics = this.#metrics;
    this.#inFlight -= 1;
    const endpoint = row.endpoint.name;
    const server = known ? row.server.name : OTHER;
    const tool = known ? row.tool : OTHER;
    metrics.add("calls", [endpoint, server, tool, row.outcome]);
    this.#took(row, { server, tool, method: METHOD }, ended);
    metrics.add("resultBytes", [endpoint, server], row.resultBytes);
    if (row.code !== undefined) metrics.add("errors", [endpoint, row.code]);
    if (row.attempts !== undefined) metrics.add("attempts", [server], row.attempts - 1);
    if (row.cached) metrics.add("cached", [server]);
  }

  /** A prompt or resource: which one would make too many series. */
  item(row: CallRow, method: ItemMethod, ended: CallEnded): void {
    this.#inFlight -= 1;
    const server = row.server.uuid === undefined && row.server.name !== OWN_SERVER ? OTHER : row.server.name;
    this.#took(row, { server, tool: "", method }, ended);
  }

  #took(
    row: CallRow,
    { server, tool, method }: { readonly server: string; readonly tool: string; readonly method: string },
    ended: CallEnded,
  ): void {
    const failure = errorType(row, ended);
    const labels = [server, tool, method, failure];
    this.#metrics.observe("serverDuration", [row.endpoint.name, ...labels], row.durationMs / MS);
    const { child } = ended.trail;
    if (child) this.#metrics.observe("clientDuration", labels, (child.to - child.from) / MS);
    if (row.by !== undefined) this.#metrics.add("refusals", [row.by]);
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

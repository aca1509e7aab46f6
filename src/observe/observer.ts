/**
 * Handles the events of a gateway, and passes them to audit log, recent calls, statistics, metrics and live
 * streams.
 */
import { randomUUID } from "node:crypto";
import type { Call } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type {
  AdminChange,
  CallEnded,
  EgressTried,
  EngineEvent,
  Events,
  LoginTried,
} from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";
import type { Audit } from "../store/store.ts";
import type { Sums } from "../store/sum-rows.ts";
import { AuditLog, type AuditOptions, OUTCOME_MS } from "./audit/audit-log.ts";
import {
  recordOfAdmin,
  recordOfBeginning,
  recordOfCall,
  recordOfCredential,
  recordOfEgress,
  recordOfLogin,
  STRANGERS,
} from "./audit/audit-record.ts";
import { type Refusal, Refusals } from "./audit/refusals.ts";
import { type CallGroup, CallGroups } from "./call-groups.ts";
import { callRow } from "./call-row.ts";
import type { CallRow } from "./call-schema.ts";
import { callEvent } from "./live/call-event.ts";
import { CallIds } from "./live/call-ids.ts";
import { bucketOf } from "./live/durations.ts";
import { EventFeed } from "./live/event-feed.ts";
import { type LiveEvent, liveEvent } from "./live/live-event.ts";
import { RecentCalls } from "./live/recent-calls.ts";
import { Stats } from "./live/stats.ts";
import { CountedLists, shownByCall } from "./live/tokens-saved.ts";
import { ToolUse } from "./live/tool-use.ts";
import { EventMetrics, type Gauges } from "./metrics/event-metrics.ts";
import type { Names } from "./names.ts";
import { type RowText, rowText } from "./row-text.ts";
import { CallSums } from "./sums/call-sums.ts";
import { UsageReader } from "./sums/usage.ts";

export interface ObserverParts {
  readonly events: Events;
  readonly audit: Audit;
  readonly sums: Sums;
  readonly names: Names;
  readonly clock: Clock;
  readonly log: Log;
  readonly options: AuditOptions;
  readonly gauges: Omit<Gauges, "audit">;
  /** The id of this gateway among those on the store. */
  readonly replica?: string | undefined;
  /** It shares sessions with the others, so what it tells names it. */
  readonly shares?: boolean;
}

/** A finished call with its row and group. */
export interface ObservedCall {
  readonly row: CallRow;
  readonly group: CallGroup;
  readonly ended: CallEnded;
}

/** The parts that the admin API reads. */
export interface Observed {
  readonly names: Names;
  readonly audit: Pick<AuditLog, "state">;
  readonly records: Pick<Audit, "query" | "verify">;
  readonly calls: Pick<RecentCalls, "list" | "get">;
  readonly callIds: CallIds;
  readonly sums: Pick<CallSums, "flush">;
  /** What all gateways on the store have counted. */
  readonly usage: UsageReader;
  readonly stats: Pick<Stats, "figures">;
  readonly use: Pick<ToolUse, "all" | "since">;
  readonly feed: Pick<EventFeed, "add" | "fullFor">;
  readonly metrics: Pick<EventMetrics, "text">;
}

export class Observer implements Observed {
  readonly names: Names;
  readonly audit: AuditLog;
  readonly records: Audit;
  readonly calls = new RecentCalls();
  readonly callIds: CallIds;
  readonly sums: CallSums;
  readonly usage: UsageReader;
  readonly stats = new Stats();
  readonly use = new ToolUse();
  readonly feed: EventFeed;
  readonly metrics: EventMetrics;
  /** Also gets every finished call. Tracing sets it. */
  onCall: ((call: ObservedCall) => void) | undefined;
  readonly #groups: CallGroups;
  readonly #lists = new CountedLists();
  readonly #refusals: Refusals;
  readonly #stop: () => void;
  /** Undefined if this gateway shares nothing with others. */
  readonly #replica: string | undefined;
  /** The state of the audit log that was last sent to watchers. */
  #reported: { readonly lost: number; readonly fault: string | undefined } = { lost: 0, fault: undefined };

  constructor(parts: ObserverParts) {
    const { events, audit, sums, names, clock, log, options, gauges, replica, shares = false } = parts;
    this.#replica = shares ? replica : undefined;
    this.callIds = new CallIds(replica);
    this.names = names;
    this.#groups = new CallGroups(names);
    this.records = audit;
    this.usage = new UsageReader(sums);
    this.sums = new CallSums({
      sums,
      clock,
      log,
      namespaceOf: (endpoint, server) => names.namespace(endpoint, server),
    });
    this.audit = new AuditLog(audit, options, { clock, log, replica: this.#replica });
    this.#refusals = new Refusals(clock, (record) => this.audit.add(record));
    this.feed = new EventFeed(clock, () => this.#checkAudit());
    this.metrics = new EventMetrics(names, { ...gauges, audit: () => this.audit.state }, this.#replica);
    this.#stop = events.on((event) => this.#handle(event));
  }

  /** Resolves when the audit log contains that this call begins; rejects if that is not possible. */
  async begin(call: Call): Promise<void> {
    const id = randomUUID();
    // Set first: a record that comes too late for the call may still be written.
    if (call.trail) call.trail.begun = id;
    await this.audit.addRequired(recordOfBeginning(call, id, this.names));
  }

  async close(): Promise<void> {
    this.#stop();
    this.#refusals.flush();
    this.feed.close();
    this.metrics.close();
    await Promise.all([this.audit.close(), this.sums.close()]);
  }

  #handle(event: EngineEvent): void {
    switch (event.type) {
      case "call.begun":
        this.metrics.callBegun();
        return;
      case "call.ended": {
        const row = callRow(event, this.names);
        const text = rowText(row);
        this.#record(row, text, event);
        this.calls.add(row, event);
        const group = this.#groups.of(row);
        this.#count(group, row, event);
        this.onCall?.({ row, group, ended: event });
        if (this.feed.watched)
          this.feed.sendCall(
            callEvent({ id: this.callIds.of(event.id), at: row.at, replica: this.#replica }, text),
          );
        return;
      }
      case "listed": {
        const { full, shown } = this.#lists.tokens(event);
        if (full !== 0 || shown !== 0) this.#saved(event.endpoint, full, shown, event.at);
        return;
      }
      case "admin":
        if (event.outcome === "refused") this.#refusals.add(refusedChange(event));
        else this.audit.add(recordOfAdmin(event));
        break;
      case "login":
        if (event.outcome === "refused") this.#refusals.add(refusedLogin(event));
        else this.audit.add(recordOfLogin(event));
        break;
      case "credential":
        // Equal ones are counted already.
        this.audit.add(recordOfCredential(event));
        break;
      case "egress":
        this.#refusals.add(triedEgress(event, this.names));
        return;
      case "approval":
      case "breaker":
      case "changed":
      case "connection":
      case "pool":
      case "revision":
      case "session":
      case "store":
      case "tools":
      case "update":
        break;
    }
    this.metrics.handle(event);
    if (!this.feed.watched) return;
    const live = liveEvent(event, this.names);
    if (live) this.#send(live);
  }

  #record(row: CallRow, text: RowText, ended: CallEnded): void {
    const { trail } = ended;
    const refused = row.outcome === "refused";
    if (refused && trail.begun === undefined) this.#refusals.add(refusedCall(row, text, ended));
    else if (trail.required && !refused) {
      trail.stored = this.audit.addRequired(recordOfCall(text, ended), OUTCOME_MS);
      // A call that is cancelled does not wait for it.
      trail.stored.catch(() => {});
    } else this.audit.add(recordOfCall(text, ended));
  }

  /** Checked every second while somebody watches, because any call can cause a loss or a fault. */
  #checkAudit(): void {
    const { lost, fault } = this.audit.state;
    if (lost === this.#reported.lost && fault === this.#reported.fault) return;
    this.#reported = { lost, fault };
    const at = new Date().toISOString();
    this.#send({ type: "audit", at, lost, ...(fault !== undefined && { fault }) });
  }

  #send(event: LiveEvent): void {
    this.feed.send(this.#replica === undefined ? event : { ...event, replica: this.#replica });
  }

  #count(group: CallGroup, row: CallRow, ended: CallEnded): void {
    const { server, tool, method } = group;
    const took = bucketOf(row.durationMs);
    this.stats.add(group, row, took);
    this.sums.add(group, row, took);
    const isUse = !method && server.uuid !== undefined && row.outcome !== "refused";
    if (isUse) this.use.add(server.uuid, tool, row.at);
    this.metrics.call(group, row, ended);
    const shown = shownByCall(row);
    if (shown > 0) this.#saved(ended.origin.endpoint, 0, shown, row.at);
  }

  #saved(endpoint: string, full: number, shown: number, at: number): void {
    const name = this.names.endpoint(endpoint)?.name;
    this.sums.tokens(name === undefined ? { name: endpoint } : { uuid: endpoint, name }, full, shown, at);
    this.stats.saved(endpoint, full - shown, at);
    this.metrics.saved(endpoint, full - shown);
  }
}

/** Callers can choose unknown names freely, so those count as equal. */
const UNKNOWN: ReadonlySet<string | undefined> = new Set(["tool_not_found", "server_not_found"]);

function refusedCall(row: CallRow, text: RowText, ended: CallEnded): Refusal {
  const { at, principal, endpoint, surface, server, tool, method = "", code = "", by = "" } = row;
  const what = UNKNOWN.has(code) || method !== "" ? [] : [server.name, tool];
  const kind = ["call", principal.key?.id, endpoint.uuid, surface, method, code, by, ...what].join(" ");
  return { owner: ended.origin.principal.id, kind, at, record: () => recordOfCall(text, ended) };
}

function refusedChange(change: AdminChange): Refusal {
  const { at, principal, action, object } = change;
  const kind = ["change", action, object.kind, object.uuid ?? object.name].join(" ");
  return { owner: principal.id, kind, at, record: () => recordOfAdmin(change) };
}

/** A server decides how often it tries, also where it is not refused. */
function triedEgress(tried: EgressTried, names: Names): Refusal {
  const { at, server, host, port, refused } = tried;
  const kind = ["egress", host, port, refused].join(" ");
  return { owner: server, kind, at, record: () => recordOfEgress(tried, names) };
}

function refusedLogin(login: LoginTried): Refusal {
  const { at, principal, by, address, reason, tried } = login;
  const kind = `login ${JSON.stringify([by, address, reason, tried])}`;
  return { owner: principal?.id ?? STRANGERS, kind, at, record: () => recordOfLogin(login) };
}

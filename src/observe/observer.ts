/** Reads the events of a gateway, once for all who want to know: audit log, last calls, figures, live streams. */
import type { Clock } from "../kernel/clock.ts";
import type { CallEnded, EngineEvent, Events } from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";
import type { Audit } from "../store/store.ts";
import { AuditLog, type AuditOptions } from "./audit/audit-log.ts";
import { recordOfAdmin, recordOfCall, recordOfLogin } from "./audit/audit-record.ts";
import { type CallRow, callRow } from "./call-row.ts";
import { type Heading, Headings } from "./headings.ts";
import { callEvent } from "./live/call-event.ts";
import { EventFeed } from "./live/event-feed.ts";
import { RecentCalls } from "./live/recent-calls.ts";
import { Stats } from "./live/stats.ts";
import { Listings, savedByCall } from "./live/tokens.ts";
import { toldEvent } from "./live/told-event.ts";
import { ToolUse } from "./live/tool-use.ts";
import { Counting, type Gauges } from "./metrics/counting.ts";
import type { Names } from "./names.ts";
import { rowText } from "./row-text.ts";

export interface ObserverParts {
  readonly events: Events;
  readonly audit: Audit;
  readonly names: Names;
  readonly clock: Clock;
  readonly log: Log;
  readonly options: AuditOptions;
  readonly gauges: Omit<Gauges, "audit">;
}

/** A call that has ended, and what was made of it. */
export interface ObservedCall {
  readonly row: CallRow;
  readonly heading: Heading;
  readonly ended: CallEnded;
}

/** What the admin API reads. */
export interface Observed {
  readonly names: Names;
  readonly audit: Pick<AuditLog, "state">;
  readonly records: Pick<Audit, "query" | "verify">;
  readonly calls: Pick<RecentCalls, "list" | "get">;
  readonly stats: Pick<Stats, "answer">;
  readonly use: Pick<ToolUse, "of" | "since">;
  readonly feed: Pick<EventFeed, "add" | "full">;
  readonly metrics: Pick<Counting, "text">;
}

export class Observer implements Observed {
  readonly names: Names;
  readonly audit: AuditLog;
  readonly records: Audit;
  readonly calls = new RecentCalls();
  readonly stats = new Stats();
  readonly use = new ToolUse();
  readonly feed: EventFeed;
  readonly metrics: Counting;
  /** Where calls are told further. */
  onCall: ((call: ObservedCall) => void) | undefined;
  readonly #headings: Headings;
  readonly #listings = new Listings();
  readonly #stop: () => void;
  /** What watchers know of the audit log. */
  #told: { readonly lost: number; readonly fault: string | undefined } = { lost: 0, fault: undefined };

  constructor({ events, audit, names, clock, log, options, gauges }: ObserverParts) {
    this.names = names;
    this.#headings = new Headings(names);
    this.records = audit;
    this.audit = new AuditLog(audit, options, { clock, log });
    this.feed = new EventFeed(clock, () => this.#lookAtAudit());
    this.metrics = new Counting(names, { ...gauges, audit: () => this.audit.state });
    this.#stop = events.on((event) => this.#hear(event));
  }

  async close(): Promise<void> {
    this.#stop();
    this.feed.close();
    this.metrics.close();
    await this.audit.close();
  }

  #hear(event: EngineEvent): void {
    switch (event.type) {
      case "call.begun":
        this.metrics.begun();
        return;
      case "call.ended": {
        const row = callRow(event, this.names);
        const told = rowText(row);
        this.audit.add(recordOfCall(told, event));
        this.calls.add(row, event);
        const heading = this.#headings.of(row);
        this.#count(heading, row, event);
        this.onCall?.({ row, heading, ended: event });
        if (this.feed.watched) this.feed.tellCall(callEvent(event.id, row.at, told));
        return;
      }
      case "listed":
        this.#saved(event.endpoint, this.#listings.saved(event), event.at);
        return;
      case "admin":
        this.audit.add(recordOfAdmin(event));
        break;
      case "login":
        this.audit.add(recordOfLogin(event));
        break;
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
    this.metrics.hear(event);
    if (!this.feed.watched) return;
    const told = toldEvent(event, this.names);
    if (told) this.feed.tell(told);
  }

  /** Losses and faults are looked for while somebody watches: each call may cause one. */
  #lookAtAudit(): void {
    const { lost, fault } = this.audit.state;
    if (lost === this.#told.lost && fault === this.#told.fault) return;
    this.#told = { lost, fault };
    const at = new Date().toISOString();
    this.feed.tell({ type: "audit", at, lost, ...(fault !== undefined && { fault }) });
  }

  #count(heading: Heading, row: CallRow, ended: CallEnded): void {
    const { server, tool, method } = heading;
    this.stats.add(heading, row);
    if (!method && server.uuid !== undefined) this.use.add(server.uuid, tool, row.at);
    this.metrics.call(heading, row, ended);
    const saved = savedByCall(row);
    if (saved !== 0) this.#saved(ended.origin.endpoint, saved, row.at);
  }

  #saved(endpoint: string, tokens: number, at: number): void {
    this.stats.saved(endpoint, tokens, at);
    this.metrics.saved(endpoint, tokens);
  }
}

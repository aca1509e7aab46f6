/**
 * All clients of one endpoint, with and without sessions: opens and ends sessions, notifies clients of
 * changes, and waits for running requests when it closes. Knows no child.
 */

import { repeatOf } from "../catalog/tool.ts";
import type { Repeat } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type {
  ConcurrencyLimiter,
  ConcurrencyLimits,
  YieldingSessions,
} from "../kernel/concurrency-limiter.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Events } from "../kernel/events.ts";
import type { Asker } from "../kernel/list-key.ts";
import { PassingSet } from "../kernel/passing.ts";
import type { Principal } from "../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, type Raw } from "../kernel/raw.ts";
import type { IdSource } from "../kernel/replica-ids.ts";
import type { ToolAnnotations } from "../kernel/tool-facts.ts";
import type { Send } from "../rpc/peer.ts";
import { member, members } from "../rpc/slice.ts";
import { Debounce } from "../session/debounce.ts";
import { StatelessClients } from "../session/era-2026/stateless-clients.ts";
import { PlacedRequests } from "../session/placed-requests.ts";
import { Session } from "../session/session.ts";
import { SessionlessRequests } from "../session/sessionless-requests.ts";
import type { Surface } from "../surface/surface.ts";
import type { Host, OpenOptions, Readiness } from "../transport/transport.ts";
import { recordOverLimit } from "./record-over-limit.ts";

export interface SessionsParts {
  /** The id of the endpoint. */
  readonly endpoint: string;
  /** Creates the surface for a new client. */
  readonly newSurface: () => Surface;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** The time for running calls when the process stops. */
  readonly drainMs?: number | undefined;
  /** The limits for sessions and requests. */
  readonly limiter?: ConcurrencyLimiter | undefined;
  readonly events: Events;
  readonly down: () => Readiness["down"];
  /** Called when a client with a session has left. */
  readonly onLeft: (session: string) => void;
  /** Called when a request without a session has ended. It had a session id of its own. */
  readonly onEnded: (session: string) => void;
  /** Called when the endpoint is closed. */
  readonly onClosed: () => void;
}

/** The default of `drainMs`. */
const DRAIN_MS = 5_000;
/** When clients are notified after a change: after a quiet period, but not later than the maximum. */
const NOTIFY = { quietMs: 150, mostMs: 1_000 };

/** Created once, because stateless clients leave after every answer. */
const GONE = new MetaMcpError("cancelled", "the client is gone");

export class Sessions implements Host {
  readonly era2026: StatelessClients;
  readonly sessionless: SessionlessRequests;
  readonly #parts: SessionsParts;
  readonly #open = new PassingSet<Session>();
  readonly #changes: Debounce;
  /** Only a gateway with other replicas needs it. */
  #placed: PlacedRequests | undefined;
  #closing = false;
  #telling: Told | undefined;

  constructor(parts: SessionsParts) {
    const { endpoint, newSurface, clock, ids, onEnded } = parts;
    this.#parts = parts;
    this.era2026 = new StatelessClients({ endpoint, surface: newSurface(), clock, ids, onEnded });
    this.sessionless = new SessionlessRequests({ endpoint, onEnded });
    this.#changes = new Debounce(clock, NOTIFY, () => this.#tellChanges());
  }

  newSurface(): Surface {
    return this.#parts.newSurface();
  }

  get ready(): boolean {
    return !this.#closing;
  }

  full(what: "inFlight", more = 1): boolean {
    return this.#parts.limiter?.full(what, more) ?? false;
  }

  askFor(what: keyof ConcurrencyLimits, more = 1): Promise<unknown> | undefined {
    return this.#parts.limiter?.ready(what, more);
  }

  makeRoom(caller: string): boolean {
    return this.#parts.limiter?.makeRoom(caller) ?? true;
  }

  onFull(sessions: YieldingSessions): void {
    this.#parts.limiter?.onFull(sessions);
  }

  offFull(sessions: YieldingSessions): void {
    this.#parts.limiter?.offFull(sessions);
  }

  recordOverLimit(...[message, principal, session]: Parameters<Host["recordOverLimit"]>): void {
    if (message.kind !== "request") return;
    const { endpoint, events, clock } = this.#parts;
    const { method, params } = message;
    const recording = { events, clock, target: (server: string, tool: string) => ({ server, tool }) };
    recordOverLimit(recording, { endpoint, principal, origin: session?.origin, method, params });
  }

  repeat(...[message, principal]: Parameters<Host["repeat"]>): Repeat {
    const { endpoint } = this.#parts;
    return repeatOfRequest(this.newSurface(), message, { endpoint, principal, capabilities: EMPTY_OBJECT });
  }

  replicaOf(...[message, from]: Parameters<Host["replicaOf"]>): string | undefined {
    const { endpoint, ids } = this.#parts;
    this.#placed ??= new PlacedRequests(endpoint, ids);
    return this.#placed.replicaOf(message, from);
  }

  health(): Readiness {
    return { ready: this.ready, down: this.#parts.down() };
  }

  open(send: Send, principal: Principal, how: OpenOptions = {}): Session {
    const { endpoint, newSurface, clock, limiter } = this.#parts;
    const session = new Session(newSurface(), send, {
      ...how,
      endpoint,
      principal,
      clock,
      onInitialized: (opened) => this.#emit("opened", opened),
    });
    this.#open.add(session);
    if (!session.stateless) limiter?.enter("sessions");
    return session;
  }

  ended(session: Session): void {
    session.destroy(GONE);
    // The stream and the session may both report the end.
    const wasOpen = this.#open.delete(session);
    if (wasOpen && !session.stateless) {
      this.#emit("closed", session);
      this.#parts.limiter?.leave("sessions");
    }
    this.#parts.onLeft(session.id);
  }

  /** Sessions whose handshake is complete. */
  get clients(): readonly Session[] {
    return [...this.#open].filter(({ open, stateless }) => open && !stateless);
  }

  #emit(state: "opened" | "closed", session: Session): void {
    const { events, clock } = this.#parts;
    const { origin } = session;
    if (!events.hasListeners || !origin) return;
    const { endpoint, principal, client, protocolVersion } = origin;
    events.emit({
      type: "session",
      at: Date.now(),
      state,
      endpoint,
      principal,
      session: session.id,
      ...(client && { client }),
      ...(protocolVersion !== undefined && { protocolVersion }),
      ...(state === "closed" && { durationMs: clock.now() - session.use.since }),
    });
  }

  /**
   * Lists may have changed: notifies the affected clients after a short pause. Resolves with their number.
   */
  changed(): Promise<number> {
    this.#telling ??= told();
    this.#changes.touch();
    return this.#telling.promise;
  }

  #tellChanges(): void {
    const telling = this.#telling;
    this.#telling = undefined;
    let told = 0;
    for (const client of this.#all()) told += client.tellChanges();
    telling?.resolve(told);
  }

  /** The config changed, or the credentials of this account. */
  loadMissingLists(account?: string): void {
    for (const client of this.#all()) client.loadMissingLists(account);
  }

  /** Refuses new requests. Resolves when running ones have ended or their time is up. */
  async close(withinMs = this.#parts.drainMs ?? DRAIN_MS): Promise<void> {
    await this.#drain(withinMs);
    this.#parts.onClosed();
  }

  async #drain(drainMs: number): Promise<void> {
    const { clock } = this.#parts;
    this.#closing = true;
    for (const client of this.#all()) client.refuse();
    // Timers of the clock do not keep the process alive, so a call that only waits needs this interval.
    const hold = setInterval(() => {}, 1_000);
    const end = clock.now() + drainMs;
    while (clock.now() < end && this.#all().some(({ serving }) => serving > 0)) await pause(clock, 10);
    clearInterval(hold);
  }

  #all(): readonly (StatelessClients | SessionlessRequests | Session)[] {
    return [this.era2026, this.sessionless, ...this.#open];
  }
}

interface Told {
  readonly promise: Promise<number>;
  resolve(clients: number): void;
}

function told(): Told {
  let resolve: Told["resolve"] = () => {};
  const promise = new Promise<number>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

/** Whether a client's request may be sent again if its outcome is not known. */
interface Asked {
  readonly method: string;
  readonly params: Raw | undefined;
}

function repeatOfRequest(surface: Surface, { method, params }: Asked, asker: Asker): Repeat {
  // Other requests only read.
  if (method !== "tools/call") return "safe";
  const [raw] = params ? members(params, ["name"]) : [];
  const name = raw && fromRaw(raw);
  const tool = typeof name === "string" ? surface.tool?.(name, asker) : undefined;
  const annotations = tool && member(tool, "annotations");
  return annotations ? repeatOf(fromRaw(annotations) as ToolAnnotations) : "unknown";
}

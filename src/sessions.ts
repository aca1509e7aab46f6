/** All clients that are served, with sessions and without: who comes, who is told of changes, who is waited for at the end. Knows no child. */
import type { Clock } from "./kernel/clock.ts";
import { MetaMcpError } from "./kernel/errors.ts";
import type { Events } from "./kernel/events.ts";
import type { Principal } from "./kernel/principal.ts";
import type { Room } from "./kernel/room.ts";
import { recordOverLimit } from "./record-over-limit.ts";
import type { Send } from "./rpc/peer.ts";
import { Debounce } from "./session/debounce.ts";
import { StatelessClients } from "./session/era-2026/stateless-clients.ts";
import { LoneRequests } from "./session/lone-requests.ts";
import { Session } from "./session/session.ts";
import type { Surface } from "./surface/surface.ts";
import type { Host, Readiness } from "./transport/transport.ts";

export interface SessionsParts {
  /** Id of the endpoint that is served. */
  readonly endpoint: string;
  /** What a new client sees. */
  readonly newSurface: () => Surface;
  readonly clock: Clock;
  /** How many there may be; without it as many as come. */
  readonly room?: Room | undefined;
  readonly events: Events;
  readonly down: () => Readiness["down"];
  /** A client with a session has left. */
  readonly onLeft: (session: string) => void;
  /** What was done for a client without one, and counted as its session, is over. */
  readonly onEnded: (session: string) => void;
  /** Nobody is served here any more. */
  readonly onClosed: () => void;
}

/** Calls under way get this long when we are told to stop. */
const DRAIN_MS = 5_000;
/** When clients hear that a list of theirs changed. */
const NOTIFY = { quietMs: 150, mostMs: 1_000 };

/** Made once: without sessions of their own, clients leave with every answer. */
const GONE = new MetaMcpError("cancelled", "the client is gone");

export class Sessions implements Host {
  readonly era2026: StatelessClients;
  readonly lone: LoneRequests;
  readonly #parts: SessionsParts;
  readonly #open = new Set<Session>();
  readonly #changes: Debounce;
  #closing = false;
  #telling: Told | undefined;

  constructor(parts: SessionsParts) {
    const { endpoint, newSurface, clock, onEnded } = parts;
    this.#parts = parts;
    this.era2026 = new StatelessClients({ endpoint, surface: newSurface(), clock, onEnded });
    this.lone = new LoneRequests({ endpoint, onEnded });
    this.#changes = new Debounce(clock, NOTIFY, () => this.#tellChanges());
  }

  newSurface(): Surface {
    return this.#parts.newSurface();
  }

  get ready(): boolean {
    return !this.#closing;
  }

  full(what: "sessions" | "inFlight"): boolean {
    return this.#parts.room?.full(what) ?? false;
  }

  turnedAway(...[message, principal, session]: Parameters<Host["turnedAway"]>): void {
    if (message.kind !== "request") return;
    const { endpoint, events, clock } = this.#parts;
    const { method, params } = message;
    const recording = { events, clock, target: (server: string, tool: string) => ({ server, tool }) };
    recordOverLimit(recording, { endpoint, principal, origin: session?.origin, method, params });
  }

  health(): Readiness {
    return { ready: this.ready, down: this.#parts.down() };
  }

  open(send: Send, principal: Principal, stateless = false): Session {
    const { endpoint, newSurface, clock, room } = this.#parts;
    const session = new Session(newSurface(), send, {
      endpoint,
      principal,
      stateless,
      clock,
      onInitialized: (opened) => this.#tell("opened", opened),
    });
    this.#open.add(session);
    if (!stateless) room?.enter("sessions");
    return session;
  }

  ended(session: Session): void {
    session.destroy(GONE);
    // Both the stream and the session may say so.
    const news = this.#open.delete(session);
    if (news && !session.stateless) {
      this.#tell("closed", session);
      this.#parts.room?.leave("sessions");
    }
    this.#parts.onLeft(session.id);
  }

  /** Those whose handshake is done. */
  get clients(): readonly Session[] {
    return [...this.#open].filter(({ open, stateless }) => open && !stateless);
  }

  #tell(state: "opened" | "closed", session: Session): void {
    const { events, clock } = this.#parts;
    const { origin } = session;
    if (!events.heard || !origin) return;
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

  /** A list may have changed: clients hear of it in a moment, if it is one of theirs. Resolves with how many did. */
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

  /** The config changed; or, for clients of one account, what it is let in with. */
  catchUp(account?: string): void {
    for (const client of this.#all()) client.catchUp(account);
  }

  /** Refuses new work; resolves when what is under way is answered, or has had its time. */
  async close(): Promise<void> {
    await this.#drain();
    this.#parts.onClosed();
  }

  async #drain(): Promise<void> {
    const { clock } = this.#parts;
    this.#closing = true;
    for (const client of this.#all()) client.refuse();
    // A call may wait for nothing but time, and the clock keeps no process alive.
    const hold = setInterval(() => {}, DRAIN_MS);
    const end = clock.now() + DRAIN_MS;
    while (clock.now() < end && this.#all().some(({ serving }) => serving > 0)) await pause(clock, 10);
    clearInterval(hold);
  }

  #all(): readonly (StatelessClients | LoneRequests | Session)[] {
    return [this.era2026, this.lone, ...this.#open];
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

/** The sessions of one streamable endpoint, by id. Ends idle ones, and makes room for new ones. */
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { YieldingSessions } from "../../kernel/concurrency-limiter.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { type Principal, samePrincipal } from "../../kernel/principal.ts";
import { ownIdleSession, sharedSession } from "../../kernel/yielding-session.ts";
import { NO_ROOM } from "../end-reasons.ts";
import type { Host } from "../transport.ts";
import type { Received } from "./http-server.ts";
import type { HttpSession } from "./http-session.ts";

const MAX_SESSIONS = 10_000;

export interface SessionTableOptions {
  readonly clock: Clock;
  readonly sessionTimeoutMs: number;
  readonly heartbeatMs: number;
  /** Runs with each heartbeat of the sessions. */
  readonly onHeartbeat: () => void;
  /** Called with the id of a session that has ended. */
  readonly onEnded?: ((session: string) => void) | undefined;
}

export class SessionTable {
  readonly #options: SessionTableOptions;
  readonly #host: Pick<Host, "onFull" | "offFull">;
  readonly #clients = new Map<string, HttpSession>();
  #sweepTimer: Timer;

  constructor(host: Pick<Host, "onFull" | "offFull">, options: SessionTableOptions) {
    this.#options = options;
    this.#host = host;
    host.onFull(this.#open);
    this.#sweepTimer = options.clock.after(this.#sweepMs, () => this.#sweep());
  }

  /** The session that the request names. It is visible only to the principal that opened it. */
  find({ request, principal }: Pick<Received, "request" | "principal">): HttpSession | undefined {
    const client = this.#clients.get(String(request.headers["mcp-session-id"]));
    return client && samePrincipal(client.principal, principal) ? client : undefined;
  }

  add(client: HttpSession): void {
    this.#clients.set(client.publicId, client);
  }

  endClient(client: HttpSession, reason: MetaMcpError): void {
    this.#clients.delete(client.publicId);
    client.end(reason);
    this.#options.onEnded?.(client.session.id);
  }

  /** Returns false if there is no such session. */
  endSession(id: string, reason: MetaMcpError): boolean {
    const client = [...this.#clients.values()].find(({ session }) => session.id === id);
    if (client) this.endClient(client, reason);
    return client !== undefined;
  }

  /** Ends a session here that goes on in another process. */
  release(client: HttpSession, reason: MetaMcpError): void {
    if (this.#clients.delete(client.publicId)) client.end(reason);
  }

  /** The same for all sessions that match. Returns how many are left. */
  releaseAll(which: (client: HttpSession) => boolean, reason: MetaMcpError): number {
    for (const client of this.#clients.values()) if (which(client)) this.release(client, reason);
    return this.#clients.size;
  }

  get ids(): readonly string[] {
    return [...this.#clients.values()].map(({ session }) => session.id);
  }

  /** Ends all sessions of these principals. */
  endOf(whose: (principal: Principal) => boolean, reason: MetaMcpError): void {
    for (const client of this.#clients.values()) if (whose(client.principal)) this.endClient(client, reason);
  }

  /** Does not end the sessions. */
  stop(): void {
    this.#sweepTimer.cancel();
    this.#host.offFull(this.#open);
  }

  /**
   * Makes room if the table is full, first with sessions of the caller. Returns false if no session may end.
   */
  makeRoom(caller: string): boolean {
    if (this.#clients.size < MAX_SESSIONS) return true;
    const open = this.#open();
    const yielding = ownIdleSession(open, caller) ?? sharedSession(open, caller);
    yielding?.end();
    return yielding !== undefined;
  }

  readonly #open: YieldingSessions = () => {
    const now = this.#options.clock.now();
    return [...this.#clients.values()].map((client) => {
      const { owner, busy } = client;
      return { owner, busy, idleMs: client.idleFor(now), end: () => this.endClient(client, NO_ROOM) };
    });
  };

  get #sweepMs(): number {
    const { heartbeatMs, sessionTimeoutMs } = this.#options;
    return Math.min(heartbeatMs, Math.max(100, sessionTimeoutMs / 4));
  }

  /** Ends sessions that were idle for too long, and writes to open streams to detect dead ones. */
  #sweep(): void {
    const { clock, sessionTimeoutMs, onHeartbeat } = this.#options;
    const now = clock.now();
    onHeartbeat();
    for (const client of this.#clients.values()) {
      if (client.idleFor(now) < sessionTimeoutMs) client.heartbeat();
      else this.endClient(client, new MetaMcpError("cancelled", "the session was idle for too long"));
    }
    this.#sweepTimer = clock.after(this.#sweepMs, () => this.#sweep());
  }
}

/** All clients that are served, with sessions and without: who comes, who is told of changes, who is waited for at the end. Knows no child. */
import type { Clock } from "./kernel/clock.ts";
import { MetaMcpError } from "./kernel/errors.ts";
import type { Send } from "./rpc/peer.ts";
import { Debounce } from "./session/debounce.ts";
import { Modern } from "./session/modern/modern.ts";
import { Session } from "./session/session.ts";
import type { Face } from "./surface/face.ts";
import type { Health, Host } from "./transport/transport.ts";

export interface SessionsParts {
  /** What a new client sees. */
  readonly face: () => Face;
  readonly clock: Clock;
  readonly down: () => Health["down"];
  /** A client with a session has left. */
  readonly onLeft: (session: string) => void;
  /** What was done for a client without one, and counted as its session, is over. */
  readonly onEnded: (session: string) => void;
}

/** Calls under way get this long when we are told to stop. */
const DRAIN_MS = 5_000;
/** When clients hear that a list of theirs changed. */
const NOTIFY = { quietMs: 150, mostMs: 1_000 };

/** Made once: without sessions of their own, clients leave with every answer. */
const GONE = new MetaMcpError("cancelled", "the client is gone");

export class Sessions implements Host {
  readonly modern: Modern;
  readonly #parts: SessionsParts;
  readonly #open = new Set<Session>();
  readonly #changes: Debounce;
  #closing = false;

  constructor(parts: SessionsParts) {
    const { face, clock, onEnded } = parts;
    this.#parts = parts;
    this.modern = new Modern({ face: face(), clock, onEnded });
    this.#changes = new Debounce(clock, NOTIFY, () => {
      for (const client of this.#all()) client.tellChanges();
    });
  }

  get ready(): boolean {
    return !this.#closing;
  }

  health(): Health {
    return { ready: this.ready, down: this.#parts.down() };
  }

  open(send: Send, stateless?: boolean): Session {
    const session = new Session(this.#parts.face(), send, stateless);
    this.#open.add(session);
    return session;
  }

  ended(session: Session): void {
    session.destroy(GONE);
    this.#open.delete(session);
    this.#parts.onLeft(session.id);
  }

  /** A list may have changed: clients hear of it in a moment, if it is one of theirs. */
  changed(): void {
    this.#changes.touch();
  }

  /** The config changed. */
  catchUp(): void {
    for (const client of this.#all()) client.catchUp();
  }

  /** Refuses new work; resolves when what is under way is answered, or has had its time. */
  async drain(): Promise<void> {
    const { clock } = this.#parts;
    this.#closing = true;
    for (const client of this.#all()) client.refuse();
    // A call may wait for nothing but time, and the clock keeps no process alive.
    const hold = setInterval(() => {}, DRAIN_MS);
    const end = clock.now() + DRAIN_MS;
    while (clock.now() < end && this.#all().some(({ serving }) => serving > 0)) await pause(clock, 10);
    clearInterval(hold);
  }

  #all(): readonly (Modern | Session)[] {
    return [this.modern, ...this.#open];
  }
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

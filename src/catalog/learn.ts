/** Makes children known that no cache knows. Waits for each only once; how a child is connected is the caller's. */
import type { Origin, ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Catalog } from "./catalog.ts";
import type { Kind } from "./known-server.ts";
import { clip } from "./read-tool.ts";

export interface Unknown {
  readonly server: ServerId;
  readonly reason: string;
}

/** One connect, from its beginning until its failure may be forgotten. A success leaves none. */
interface Attempt {
  readonly since: number;
  failed: { readonly at: number; readonly message: string } | undefined;
  /** Never rejects. */
  settled: Promise<void>;
}

const DEADLINE_MS = 10_000;
const LONGEST_MESSAGE = 500;

export class Learner {
  readonly #catalog: Catalog;
  readonly #connect: (server: ServerId, origin: Origin) => Promise<void>;
  readonly #clock: Clock;
  readonly #cooldownMs: () => number;
  readonly #forgives: (server: ServerId) => boolean;
  readonly #attempts = new Map<ServerId, Attempt>();

  constructor(parts: {
    catalog: Catalog;
    /** Resolves once the child's list was refreshed. */
    connect: (server: ServerId, origin: Origin) => Promise<void>;
    clock: Clock;
    cooldownMs: () => number;
    /** What made it fail may be mended: its failure is forgotten at once. */
    forgives?: (server: ServerId) => boolean;
  }) {
    this.#catalog = parts.catalog;
    this.#connect = parts.connect;
    this.#clock = parts.clock;
    this.#cooldownMs = parts.cooldownMs;
    this.#forgives = parts.forgives ?? (() => false);
  }

  /** Resolves with those that are still unknown, and why: at the latest `deadlineMs` after the last connect it began. */
  async learn(
    servers: readonly ServerId[],
    origin: Origin,
    deadlineMs = DEADLINE_MS,
    kind: Kind = "tools",
  ): Promise<readonly Unknown[]> {
    await this.#catalog.loadCached();
    const attempts = new Map<ServerId, Attempt>();
    for (const server of this.#unknownOf(servers, kind)) attempts.set(server, this.#attempt(server, origin));
    if (attempts.size === 0) return [];
    const now = this.#clock.now();
    await Promise.all(
      [...attempts].map(([server, attempt]) =>
        this.#wait(server, kind, attempt, attempt.since + deadlineMs - now),
      ),
    );
    const unknown = this.#unknownOf([...attempts.keys()], kind);
    return unknown.map((server) => ({ server, reason: this.#reason(server, attempts.get(server)) }));
  }

  /** Someone else connects, who tries in any case: that is waited for like a connect of our own, and no other is begun. */
  begun(server: ServerId, connect: Promise<unknown>): void {
    const before = this.#attempts.get(server);
    if (!before || before.failed) this.#follow(server, () => connect);
  }

  /** Its settings changed: what happened with the old ones says nothing. */
  forget(server: ServerId): void {
    this.#attempts.delete(server);
  }

  #unknownOf(servers: readonly ServerId[], kind: Kind): readonly ServerId[] {
    return servers.filter((server) => !this.#catalog.knows(server, kind));
  }

  /** The connect under way, the recent failure, or else a connect begun here. */
  #attempt(server: ServerId, origin: Origin): Attempt {
    const before = this.#attempts.get(server);
    if (before && !(before.failed && this.#isPast(server, before.failed.at))) return before;
    return this.#follow(server, () => this.#connect(server, origin));
  }

  #isPast(server: ServerId, failedAt: number): boolean {
    return this.#clock.now() - failedAt >= this.#cooldownMs() || this.#forgives(server);
  }

  #follow(server: ServerId, connect: () => Promise<unknown>): Attempt {
    const attempt: Attempt = { since: this.#clock.now(), failed: undefined, settled: Promise.resolve() };
    this.#attempts.set(server, attempt);
    attempt.settled = this.#settle(server, connect, attempt);
    return attempt;
  }

  async #settle(server: ServerId, connect: () => Promise<unknown>, attempt: Attempt): Promise<void> {
    try {
      await connect();
      if (this.#attempts.get(server) === attempt) this.#attempts.delete(server);
    } catch (error) {
      const message = clip(reasonOf(error), LONGEST_MESSAGE) ?? "";
      attempt.failed = { at: this.#clock.now(), message };
    }
  }

  /** Until it is known, has settled, or `ms` have passed. */
  #wait(server: ServerId, kind: Kind, attempt: Attempt, ms: number): Promise<void> {
    if (attempt.failed || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.#clock.after(ms, end);
      const stop = this.#catalog.onChange(() => {
        if (this.#catalog.knows(server, kind)) end();
      });
      // Tools are listed before a connect is done, the rest soon after.
      void attempt.settled.then(() => {
        if (kind === "tools" || attempt.failed || this.#catalog.knows(server, kind)) end();
      });
      function end(): void {
        timer.cancel();
        stop();
        resolve();
      }
    });
  }

  #reason(server: ServerId, attempt: Attempt | undefined): string {
    const failed = attempt?.failed;
    if (failed) return `failed ${this.#ago(failed.at)}: ${failed.message}; a call still tries`;
    const underWay = attempt !== undefined && attempt === this.#attempts.get(server);
    if (underWay) return `still starting after ${this.#seconds(attempt.since)} s`;
    return "its settings changed while it was starting; ask again";
  }

  #ago(at: number): string {
    const seconds = this.#seconds(at);
    return seconds === 0 ? "just now" : `${seconds} s ago`;
  }

  #seconds(since: number): number {
    return Math.round((this.#clock.now() - since) / 1000);
  }
}

/** Whoever has to act must see it: a login is no fault that mends itself. */
function reasonOf(error: unknown): string {
  if (MetaMcpError.is(error) && error.code === "auth_required") return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

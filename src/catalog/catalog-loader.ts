/**
 * Connects children whose lists are in no cache, so that they list their tools. Several requests for one
 * child share one connect. The caller passes the function that connects.
 */
import type { Origin, ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Asker } from "../kernel/list-key.ts";
import { accountOf } from "../kernel/principal.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { ListedKind } from "./known-list.ts";
import { clip } from "./read-tool.ts";

export interface UnknownServer {
  readonly server: ServerId;
  readonly reason: string;
}

/** One connect. A failed one is kept until the cooldown is over, a successful one is dropped. */
interface Attempt {
  readonly since: number;
  failed: { readonly at: number; readonly message: string } | undefined;
  /** Never rejects. */
  settled: Promise<void>;
}

/** The part of the catalog that the loader uses. */
interface LoadedCatalog extends Pick<CatalogView, "loadCached" | "onChange"> {
  readonly view: (asker: Asker) => Pick<CatalogView, "isOwn" | "knows" | "fault">;
  /** The account if the server lists per account, else "". */
  readonly accountScope: (server: ServerId, account: string | undefined) => string;
}

/** Which list must become known, and how long to wait for it. */
interface Goal {
  readonly deadlineMs: number;
  readonly kind: ListedKind;
  readonly known: (server: ServerId) => boolean;
}

interface TrackedAttempt {
  readonly server: ServerId;
  readonly origin: Origin;
  readonly attempt: Attempt;
}

const DEADLINE_MS = 10_000;
const MAX_MESSAGE_LENGTH = 500;

export class CatalogLoader {
  readonly #catalog: LoadedCatalog;
  readonly #connect: (server: ServerId, origin: Origin) => Promise<void>;
  readonly #clock: Clock;
  readonly #cooldownMs: () => number;
  readonly #retryAtOnce: (server: ServerId) => boolean;
  readonly #isInstalling: (server: ServerId) => boolean;
  /** By server, then by account scope. */
  readonly #attempts = new Map<ServerId, Map<string, Attempt>>();

  constructor(parts: {
    catalog: LoadedCatalog;
    /** Resolves once the child's list has been refreshed or the refresh has failed. */
    connect: (server: ServerId, origin: Origin) => Promise<void>;
    clock: Clock;
    cooldownMs: () => number;
    /**
     * True if the cause of the last failure may be gone. The loader then connects again without waiting for
     * the cooldown.
     */
    retryAtOnce?: (server: ServerId) => boolean;
    /** Whether the server is being downloaded at the moment, which takes longer than a start. */
    isInstalling?: (server: ServerId) => boolean;
  }) {
    this.#catalog = parts.catalog;
    this.#connect = parts.connect;
    this.#clock = parts.clock;
    this.#cooldownMs = parts.cooldownMs;
    this.#retryAtOnce = parts.retryAtOnce ?? (() => false);
    this.#isInstalling = parts.isInstalling ?? (() => false);
  }

  /**
   * Connects unknown servers. Resolves with those that are still unknown `deadlineMs` after their connect
   * began, and why.
   */
  loadMissing(
    servers: readonly ServerId[],
    origin: Origin,
    deadlineMs = DEADLINE_MS,
    kind: ListedKind = "tools",
  ): Promise<readonly UnknownServer[]> {
    const view = this.#catalog.view(origin);
    const known = (server: ServerId): boolean => view.knows(server, kind);
    return this.#loadMissing(servers, origin, { deadlineMs, kind, known });
  }

  /** The same, but lists that came over another list key do not count as known. */
  loadMissingOwn(
    servers: readonly ServerId[],
    origin: Origin,
    deadlineMs: number,
  ): Promise<readonly UnknownServer[]> {
    const view = this.#catalog.view(origin);
    const known = (server: ServerId): boolean => view.isOwn(server);
    return this.#loadMissing(servers, origin, { deadlineMs, kind: "tools", known });
  }

  async #loadMissing(
    servers: readonly ServerId[],
    origin: Origin,
    goal: Goal,
  ): Promise<readonly UnknownServer[]> {
    // The usual case: everything is known.
    if (servers.every(goal.known)) return [];
    await this.#catalog.loadCached();
    const attempts = new Map<ServerId, Attempt>();
    for (const server of servers)
      if (!goal.known(server)) attempts.set(server, this.#attempt(server, origin));
    if (attempts.size === 0) return [];
    const now = this.#clock.now();
    await Promise.all(
      [...attempts].map(([server, attempt]) =>
        this.#wait(server, goal, attempt, attempt.since + goal.deadlineMs - now),
      ),
    );
    const unknown = [...attempts.keys()].filter((server) => !goal.known(server));
    return unknown.map((server) => ({ server, reason: this.#reason(server, origin, attempts.get(server)) }));
  }

  /**
   * Registers a connect that the caller has started, so that the loader waits for it and does not start
   * another.
   */
  trackConnect(server: ServerId, origin: Origin, connect: Promise<unknown>): void {
    const before = this.#last(server, origin);
    if (!before || before.failed) this.#track(server, origin, () => connect);
  }

  /** Forgets past failures, because they happened with other settings. */
  forget(server: ServerId): void {
    this.#attempts.delete(server);
  }

  /** Forgets failures of per-account connects, because another credential may work. */
  credentialsChanged(): void {
    for (const attempts of this.#attempts.values())
      for (const [account, { failed }] of attempts) if (account !== "" && failed) attempts.delete(account);
  }

  /** The running connect, the recent failure, or a new connect. */
  #attempt(server: ServerId, origin: Origin): Attempt {
    const before = this.#last(server, origin);
    if (before && !(before.failed && this.#mayRetry(server, before.failed.at))) return before;
    return this.#track(server, origin, () => this.#connect(server, origin));
  }

  #mayRetry(server: ServerId, failedAt: number): boolean {
    return this.#clock.now() - failedAt >= this.#cooldownMs() || this.#retryAtOnce(server);
  }

  #last(server: ServerId, origin: Origin): Attempt | undefined {
    return this.#attempts.get(server)?.get(this.#accountScope(server, origin));
  }

  #accountScope(server: ServerId, { principal }: Origin): string {
    return this.#catalog.accountScope(server, accountOf(principal));
  }

  #track(server: ServerId, origin: Origin, connect: () => Promise<unknown>): Attempt {
    const attempt: Attempt = { since: this.#clock.now(), failed: undefined, settled: Promise.resolve() };
    const attempts = this.#attempts.get(server) ?? new Map<string, Attempt>();
    this.#attempts.set(server, attempts.set(this.#accountScope(server, origin), attempt));
    attempt.settled = this.#settle({ server, origin, attempt }, connect);
    return attempt;
  }

  async #settle({ server, origin, attempt }: TrackedAttempt, connect: () => Promise<unknown>): Promise<void> {
    try {
      await connect();
      const view = this.#catalog.view(origin);
      const fault = view.knows(server, "tools") ? undefined : view.fault(server);
      if (fault !== undefined) throw new Error(notListed(fault));
      if (this.#last(server, origin) === attempt)
        this.#attempts.get(server)?.delete(this.#accountScope(server, origin));
    } catch (error) {
      const message = clip(reasonOf(error), MAX_MESSAGE_LENGTH) ?? "";
      attempt.failed = { at: this.#clock.now(), message };
    }
  }

  /** Resolves when the server is known, the connect has settled, or `ms` have passed. */
  #wait(server: ServerId, { kind, known }: Goal, attempt: Attempt, ms: number): Promise<void> {
    if (attempt.failed || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.#clock.after(ms, end);
      const stop = this.#catalog.onChange(() => {
        if (known(server)) end();
      });
      // A connect ends after tools/list. Prompts and resources are listed shortly afterwards.
      void attempt.settled.then(() => {
        if (kind === "tools" || attempt.failed || known(server)) end();
      });
      function end(): void {
        timer.cancel();
        stop();
        resolve();
      }
    });
  }

  #reason(server: ServerId, origin: Origin, attempt: Attempt | undefined): string {
    const failed = attempt?.failed;
    if (failed)
      return `failed ${this.#ago(failed.at)}: ${failed.message.replace(/\.$/, "")}; a call tries again`;
    const underWay = attempt !== undefined && attempt === this.#last(server, origin);
    const doing = this.#isInstalling(server) ? "installing" : "starting";
    if (underWay) return `still ${doing} after ${this.#seconds(attempt.since)} s`;
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

/** The text for a server that runs but whose `tools/list` failed. */
export function notListed(fault: string): string {
  return `its tools could not be listed: ${fault}`;
}

/**
 * The message of an unavailable server also names it and advises the caller of a tool, so its cause is
 * returned.
 */
const SHOWN_BY_CAUSE: ReadonlySet<string> = new Set(["server_unavailable", "rate_limited"]);

/** Keeps the code `auth_required` in the text, because the user must log in; waiting does not help. */
function reasonOf(error: unknown): string {
  if (MetaMcpError.is(error) && error.code === "auth_required") return `${error.code}: ${error.message}`;
  if (MetaMcpError.is(error) && SHOWN_BY_CAUSE.has(error.code) && error.cause instanceof Error)
    return error.cause.message;
  return error instanceof Error ? error.message : String(error);
}

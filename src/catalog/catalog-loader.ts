/** Makes children known that no cache knows. Waits for each only once; how a child is connected is the caller's. */
import type { Origin, ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Asker } from "../kernel/list-key.ts";
import { accountOf } from "../kernel/principal.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { ListedKind } from "./known-list.ts";
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

/** What a client sees of it. */
interface LoadedCatalog extends Pick<CatalogView, "loadCached" | "onChange"> {
  readonly view: (asker: Asker) => Pick<CatalogView, "isOwn" | "knows" | "fault">;
  /** Whose lists of the server this account sees: "" where they are everybody's. */
  readonly whose: (server: ServerId, account: string | undefined) => string;
}

/** What is to be known in the end, and when that ends. */
interface Goal {
  readonly deadlineMs: number;
  readonly kind: ListedKind;
  readonly known: (server: ServerId) => boolean;
}

interface Followed {
  readonly server: ServerId;
  readonly origin: Origin;
  readonly attempt: Attempt;
}

const DEADLINE_MS = 10_000;
const LONGEST_MESSAGE = 500;

export class CatalogLoader {
  readonly #catalog: LoadedCatalog;
  readonly #connect: (server: ServerId, origin: Origin) => Promise<void>;
  readonly #clock: Clock;
  readonly #cooldownMs: () => number;
  readonly #forgives: (server: ServerId) => boolean;
  /** By server, then by whose lists they are for. */
  readonly #attempts = new Map<ServerId, Map<string, Attempt>>();

  constructor(parts: {
    catalog: LoadedCatalog;
    /** Resolves once the child's list was refreshed, or could not be. */
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
  learn(
    servers: readonly ServerId[],
    origin: Origin,
    deadlineMs = DEADLINE_MS,
    kind: ListedKind = "tools",
  ): Promise<readonly Unknown[]> {
    const view = this.#catalog.view(origin);
    const known = (server: ServerId): boolean => view.knows(server, kind);
    return this.#learn(servers, origin, { deadlineMs, kind, known });
  }

  /** The same, where what clients of another kind are offered is not enough. */
  learnOwn(servers: readonly ServerId[], origin: Origin, deadlineMs: number): Promise<readonly Unknown[]> {
    const view = this.#catalog.view(origin);
    const known = (server: ServerId): boolean => view.isOwn(server);
    return this.#learn(servers, origin, { deadlineMs, kind: "tools", known });
  }

  async #learn(servers: readonly ServerId[], origin: Origin, goal: Goal): Promise<readonly Unknown[]> {
    // Lists are asked for often, and mostly all is known.
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

  /** Someone else connects, who tries in any case: that is waited for like a connect of our own, and no other is begun. */
  begun(server: ServerId, origin: Origin, connect: Promise<unknown>): void {
    const before = this.#last(server, origin);
    if (!before || before.failed) this.#follow(server, origin, () => connect);
  }

  /** Its settings changed: what happened with the old ones says nothing. */
  forget(server: ServerId): void {
    this.#attempts.delete(server);
  }

  /** What accounts are let in with changed: what failed for them may be mended. */
  credentialsChanged(): void {
    for (const attempts of this.#attempts.values())
      for (const [whose, { failed }] of attempts) if (whose !== "" && failed) attempts.delete(whose);
  }

  /** The connect under way, the recent failure, or else a connect begun here. */
  #attempt(server: ServerId, origin: Origin): Attempt {
    const before = this.#last(server, origin);
    if (before && !(before.failed && this.#isPast(server, before.failed.at))) return before;
    return this.#follow(server, origin, () => this.#connect(server, origin));
  }

  #isPast(server: ServerId, failedAt: number): boolean {
    return this.#clock.now() - failedAt >= this.#cooldownMs() || this.#forgives(server);
  }

  #last(server: ServerId, origin: Origin): Attempt | undefined {
    return this.#attempts.get(server)?.get(this.#whose(server, origin));
  }

  #whose(server: ServerId, { principal }: Origin): string {
    return this.#catalog.whose(server, accountOf(principal));
  }

  #follow(server: ServerId, origin: Origin, connect: () => Promise<unknown>): Attempt {
    const attempt: Attempt = { since: this.#clock.now(), failed: undefined, settled: Promise.resolve() };
    const attempts = this.#attempts.get(server) ?? new Map<string, Attempt>();
    this.#attempts.set(server, attempts.set(this.#whose(server, origin), attempt));
    attempt.settled = this.#settle({ server, origin, attempt }, connect);
    return attempt;
  }

  async #settle({ server, origin, attempt }: Followed, connect: () => Promise<unknown>): Promise<void> {
    try {
      await connect();
      const view = this.#catalog.view(origin);
      const fault = view.knows(server, "tools") ? undefined : view.fault(server);
      if (fault !== undefined) throw new Error(notListed(fault));
      if (this.#last(server, origin) === attempt)
        this.#attempts.get(server)?.delete(this.#whose(server, origin));
    } catch (error) {
      const message = clip(reasonOf(error), LONGEST_MESSAGE) ?? "";
      attempt.failed = { at: this.#clock.now(), message };
    }
  }

  /** Until it is known, has settled, or `ms` have passed. */
  #wait(server: ServerId, { kind, known }: Goal, attempt: Attempt, ms: number): Promise<void> {
    if (attempt.failed || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.#clock.after(ms, end);
      const stop = this.#catalog.onChange(() => {
        if (known(server)) end();
      });
      // Tools are listed before a connect is done, the rest soon after.
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

/** What is said of a server that runs and does not list its tools. */
export function notListed(fault: string): string {
  return `its tools could not be listed: ${fault}`;
}

/** Whoever has to act must see it: a login is no fault that mends itself. */
function reasonOf(error: unknown): string {
  if (MetaMcpError.is(error) && error.code === "auth_required") return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

/** The servers that an MCP registry lists, from a mirror on disk that is brought up to date behind the scenes. Does nothing until it is asked, and never keeps anybody waiting for a registry that is slow or down. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { setImmediate as breath } from "node:timers/promises";
import { codeOf } from "../../home/file.ts";
import type { Env } from "../../home/home.ts";
import { withLock } from "../../home/lock.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Candidate } from "../candidate.ts";
import { type Base, DEFAULT_REGISTRY, readBase } from "./base.ts";
import { CRAWL_BOUNDS } from "./crawl.ts";
import { type Head, mirrorPath, type RegistryMirror, readMirror, writeMirror } from "./mirror.ts";
import type { Fetch } from "./request.ts";
import type { ServerJson } from "./server-json.ts";
import { type Machine, toCandidate } from "./to-candidate.ts";
import { update } from "./update.ts";

export interface RegistryParts {
  /** With or without a path; the official registry if there is none. */
  readonly baseUrl?: string | undefined;
  /** METAMCP_HOME. */
  readonly home: string;
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Log;
  /** How long the first who asks waits while there is no mirror yet. */
  readonly firstWaitMs?: number;
  readonly fetch?: Fetch;
  readonly bounds?: typeof CRAWL_BOUNDS;
  now?(): Date;
}

export interface Offer {
  /** The same list until it changes. */
  readonly candidates: readonly Candidate[];
  /** Why there are none, or not all, or only old ones. */
  readonly reason?: string;
}

interface Known {
  readonly head: Head;
  readonly candidates: readonly Candidate[];
}

interface Failure {
  readonly reason: string;
  /** By the clock: not before then is it tried again. */
  readonly until: number;
}

const FIRST_WAIT_MS = 5_000;
const DAY_MS = 86_400_000;
/** A registry that is down is not asked again by everyone who comes. */
const RETRY_MS = 60_000;
const RETRY_LOCK_MS = 5_000;
const PORTION = 200;

export class Registry {
  readonly #parts: RegistryParts;
  readonly #base: Base | undefined;
  readonly #machine: Machine;
  readonly #abort = new AbortController();
  #loaded: Promise<void> | undefined;
  #known: Known | undefined;
  #failure: Failure | undefined;
  #refreshing: Promise<void> | undefined;
  /** When that began, by the clock. */
  #since = 0;
  /** What the first crawl has read so far. */
  #growing: ReadonlyMap<string, ServerJson> | undefined;

  constructor(parts: RegistryParts) {
    const { baseUrl = DEFAULT_REGISTRY, env } = parts;
    this.#parts = parts;
    this.#base = readBase(baseUrl);
    this.#machine = {
      has: memoized((command) => onPath(command, env)),
      plain: this.#base?.url.protocol === "http:",
      checked: this.#base?.url.origin === DEFAULT_REGISTRY,
    };
  }

  /** Never rejects. At once where anything is known; otherwise after a short wait, with the reason if it was in vain. */
  async candidates(signal?: AbortSignal): Promise<Offer> {
    const base = this.#base;
    if (!base)
      return { candidates: [], reason: "The address of the MCP registry is not an http or https URL." };
    this.#loaded ??= this.#load(base);
    await this.#loaded;
    if (this.#isDue()) this.#begin(base);
    if (!this.#known && this.#refreshing) await this.#wait(this.#refreshing, signal);
    const candidates = this.#known?.candidates ?? (await this.#convert(this.#growing ?? new Map()));
    const reason = this.#reason(base, candidates.length);
    return { candidates, ...(reason && { reason }) };
  }

  /** Ends what is under way; what was read so far is kept. */
  async close(): Promise<void> {
    this.#abort.abort(new Error("MetaMCP is closing"));
    await this.#refreshing;
  }

  async #load(base: Base): Promise<void> {
    try {
      const mirror = await readMirror(mirrorPath(this.#parts.home, base), base);
      if (mirror) await this.#adopt(mirror);
    } catch (error) {
      this.#parts.log.warn(`The mirror of the MCP registry cannot be read: ${(error as Error).message}`);
    }
  }

  #isDue(): boolean {
    if (this.#refreshing || this.#abort.signal.aborted) return false;
    if (this.#failure && this.#parts.clock.now() < this.#failure.until) return false;
    return !this.#known || !this.#isFresh(this.#known.head);
  }

  /** A time that lies ahead was written by a clock that was wrong. */
  #isFresh({ checkedAt, cursor }: Head): boolean {
    return cursor === undefined && checkedAt !== undefined && Math.abs(this.#now() - checkedAt) < DAY_MS;
  }

  #begin(base: Base): void {
    const { clock, log } = this.#parts;
    this.#since = clock.now();
    this.#refreshing = this.#refresh(base)
      .catch((error: Error) => this.#fail(error.message, RETRY_MS))
      .finally(() => {
        this.#refreshing = undefined;
        this.#growing = undefined;
      });
    log.debug(`Reading the MCP registry at ${base.url.href}`);
  }

  /** One process of a user reads it, the others take what that one wrote. */
  async #refresh(base: Base): Promise<void> {
    const { home, log } = this.#parts;
    const path = mirrorPath(home, base);
    const timeoutMs = this.#known ? 0 : this.#firstWaitMs;
    let entered = false;
    const run = async (): Promise<void> => {
      entered = true;
      const before = await readMirror(path, base);
      if (before && this.#isFresh(before.head)) await this.#adopt(before);
      else await this.#update(base, before, path);
    };
    try {
      await withLock(path, run, { timeoutMs });
    } catch (error) {
      if (entered) throw error;
      if (codeOf(error) === undefined) return this.#fail("another MetaMCP is reading it", RETRY_LOCK_MS);
      log.warn(`The MCP registry was read, but cannot be stored: ${(error as Error).message}`);
      await this.#update(base, undefined, undefined);
    }
  }

  async #update(base: Base, before: RegistryMirror | undefined, path: string | undefined): Promise<void> {
    const { clock, log, bounds = CRAWL_BOUNDS, fetch = lazyFetch } = this.#parts;
    const save = async (mirror: RegistryMirror): Promise<void> => await this.#save(base, mirror, path);
    const { mirror, changed, failure } = await update(before, {
      base,
      bounds,
      log,
      save,
      network: { fetch, clock },
      signal: this.#abort.signal,
      now: () => this.#now(),
      watch: (servers) => {
        this.#growing = servers;
      },
    });
    if (mirror) {
      await this.#adopt(mirror, changed);
      if (changed || mirror.head !== before?.head) await save(mirror);
    }
    if (failure) this.#fail(failure, RETRY_MS);
    else this.#failure = undefined;
  }

  /** A mirror that cannot be written costs only the next one the reading. */
  async #save(base: Base, mirror: RegistryMirror, path: string | undefined): Promise<void> {
    if (!path) return;
    const { log } = this.#parts;
    try {
      const left = await writeMirror(path, base, mirror);
      if (left > 0) log.warn(`The MCP registry is too large to store: ${left} servers were left out`);
    } catch (error) {
      log.warn(`The mirror of the MCP registry cannot be written: ${(error as Error).message}`);
    }
  }

  async #adopt({ head, servers }: RegistryMirror, changed = true): Promise<void> {
    const known = this.#known;
    const candidates = known && !changed ? known.candidates : await this.#convert(servers);
    this.#known = { head, candidates };
  }

  async #convert(servers: ReadonlyMap<string, ServerJson>): Promise<readonly Candidate[]> {
    const candidates: Candidate[] = [];
    let count = 0;
    for (const server of servers.values()) {
      if (++count % PORTION === 0) await breath();
      const candidate = toCandidate(server, this.#machine);
      if (!("reason" in candidate)) candidates.push(candidate);
      else this.#parts.log.debug(`${server.name} cannot be offered: ${candidate.reason}`);
    }
    return candidates;
  }

  async #wait(done: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#parts;
    // Who asks again while it is read has waited already.
    const left = this.#since + this.#firstWaitMs - clock.now();
    if (left <= 0) return;
    let over = (): void => {};
    const given = new Promise<void>((resolve) => {
      over = resolve;
    });
    const timer = clock.after(left, over);
    signal?.addEventListener("abort", over);
    if (signal?.aborted) over();
    await Promise.race([done, given]);
    timer.cancel();
    signal?.removeEventListener("abort", over);
  }

  #fail(reason: string, retryMs: number): void {
    this.#failure = { reason, until: this.#parts.clock.now() + retryMs };
    this.#parts.log.debug(`The MCP registry could not be read: ${reason}`);
  }

  #reason({ url }: Base, count: number): string | undefined {
    const name = `The MCP registry (${url.host})`;
    const head = this.#known?.head;
    const why = this.#failure?.reason;
    if (head?.checkedAt !== undefined) {
      const days = Math.floor((this.#now() - head.checkedAt) / DAY_MS);
      return why && days > 0
        ? `${name} could not be reached (${why}); its list is ${days} day${days > 1 ? "s" : ""} old.`
        : undefined;
    }
    if (this.#refreshing)
      return `${name} is still being read, ${count} servers so far; ask again in a moment.`;
    if (!head) return `${name} could not be used: ${why ?? "it was not read"}.`;
    return why && `${name} was read only in part (${count} servers): ${why}.`;
  }

  get #firstWaitMs(): number {
    return this.#parts.firstWaitMs ?? FIRST_WAIT_MS;
  }

  #now(): number {
    return (this.#parts.now?.() ?? new Date()).getTime();
  }
}

/** Loading it costs time that only who reaches for the network should pay. */
const lazyFetch: Fetch = async (...args) => await globalThis.fetch(...args);

function memoized(look: (command: string) => boolean): (command: string) => boolean {
  const seen = new Map<string, boolean>();
  return (command) => {
    const found = seen.get(command) ?? look(command);
    seen.set(command, found);
    return found;
  };
}

function onPath(command: string, env: Env): boolean {
  return (env["PATH"] ?? "").split(delimiter).some((folder) => {
    if (!folder) return false;
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * The servers of an MCP registry, from a mirror on disk that is updated in the background. Does nothing until
 * the first request, and never lets callers wait long for a slow or unreachable registry.
 */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { codeOf } from "../../home/file.ts";
import type { Env } from "../../home/home.ts";
import { withLock } from "../../home/lock.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Candidate } from "../candidate.ts";
import { type Base, DEFAULT_REGISTRY, type RegistrySource, readBase } from "./base.ts";
import { CRAWL_BOUNDS } from "./crawl.ts";
import { type MirrorHead, mirrorPath, type RegistryMirror, readMirror, writeMirror } from "./mirror.ts";
import type { Fetch } from "./request.ts";
import type { ServerJson } from "./server-json.ts";
import { type Machine, toCandidate } from "./to-candidate.ts";
import { update } from "./update.ts";

export interface RegistryParts {
  /** Its address may contain a path. Default: the official registry. */
  readonly source?: RegistrySource | undefined;
  /** METAMCP_HOME. */
  readonly home: string;
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Log;
  /** How long the first caller waits while there is no mirror. */
  readonly firstWaitMs?: number;
  readonly fetch?: Fetch;
  readonly bounds?: typeof CRAWL_BOUNDS;
  now?(): Date;
}

export interface RegistryCandidates {
  /** The same array until it changes. */
  readonly candidates: readonly Candidate[];
  /** Why the list is empty, incomplete or outdated. */
  readonly reason?: string;
}

interface LoadedRegistry {
  readonly head: MirrorHead;
  readonly candidates: readonly Candidate[];
}

interface Failure {
  readonly reason: string;
  /** The time of the next attempt, by the monotonic clock. */
  readonly until: number;
}

const FIRST_WAIT_MS = 5_000;
const DAY_MS = 86_400_000;
/** After a failure the registry is not requested again for this long. */
const RETRY_MS = 60_000;
const RETRY_LOCK_MS = 5_000;
const SERVERS_PER_TURN = 200;

export class Registry {
  readonly #parts: RegistryParts;
  readonly #base: Base | undefined;
  readonly #machine: Machine;
  readonly #abort = new AbortController();
  #loaded: Promise<void> | undefined;
  #current: LoadedRegistry | undefined;
  #failure: Failure | undefined;
  #refreshing: Promise<void> | undefined;
  /** When the refresh started, by the monotonic clock. */
  #startedAt = 0;
  /** The servers that the first crawl has read so far. */
  #partial: ReadonlyMap<string, ServerJson> | undefined;

  constructor(parts: RegistryParts) {
    const { source = { url: DEFAULT_REGISTRY }, env } = parts;
    this.#parts = parts;
    this.#base = readBase(source);
    this.#machine = machineOf(this.#base, env);
  }

  /**
   * Never rejects. Resolves at once if a list is known, else after a short wait, with a reason if the list is
   * incomplete.
   */
  async candidates(signal?: AbortSignal): Promise<RegistryCandidates> {
    const base = this.#base;
    if (!base)
      return { candidates: [], reason: "The address of the MCP registry is not an http or https URL." };
    this.#loaded ??= this.#load(base);
    await this.#loaded;
    if (this.#isDue()) this.#begin(base);
    if (!this.#current && this.#refreshing) await this.#wait(this.#refreshing, signal);
    const candidates = this.#current?.candidates ?? (await this.#convert(this.#partial ?? new Map()));
    const reason = this.#reason(base, candidates.length);
    return { candidates, ...(reason && { reason }) };
  }

  /** Aborts a running update; servers read so far are stored. */
  async close(): Promise<void> {
    this.#abort.abort(new Error("MetaMCP is closing"));
    await this.#refreshing;
  }

  async #load(base: Base): Promise<void> {
    try {
      const mirror = await readMirror(mirrorPath(this.#parts.home, base), base);
      if (mirror) await this.#use(mirror);
    } catch (error) {
      this.#parts.log.warn(`The mirror of the MCP registry cannot be read: ${(error as Error).message}`);
    }
  }

  #isDue(): boolean {
    if (this.#refreshing || this.#abort.signal.aborted) return false;
    if (this.#failure && this.#parts.clock.now() < this.#failure.until) return false;
    return !this.#current || !this.#isFresh(this.#current.head);
  }

  /** Uses the absolute difference, because a time in the future was written with a wrong clock. */
  #isFresh({ checkedAt, cursor }: MirrorHead): boolean {
    return cursor === undefined && checkedAt !== undefined && Math.abs(this.#now() - checkedAt) < DAY_MS;
  }

  #begin(base: Base): void {
    const { clock, log } = this.#parts;
    this.#startedAt = clock.now();
    this.#refreshing = this.#refresh(base)
      .catch((error: Error) => this.#fail(error.message, RETRY_MS))
      .finally(() => {
        this.#refreshing = undefined;
        this.#partial = undefined;
      });
    log.debug(`Reading the MCP registry at ${base.url.href}`);
  }

  /** Only one process of a user reads the registry; the others use its mirror. */
  async #refresh(base: Base): Promise<void> {
    const { home, log } = this.#parts;
    const path = mirrorPath(home, base);
    const timeoutMs = this.#current ? 0 : this.#firstWaitMs;
    let entered = false;
    const run = async (): Promise<void> => {
      entered = true;
      const before = await readMirror(path, base);
      if (before && this.#isFresh(before.head)) await this.#use(before);
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
        this.#partial = servers;
      },
    });
    if (mirror) {
      await this.#use(mirror, changed);
      if (changed || mirror.head !== before?.head) await save(mirror);
    }
    if (failure) this.#fail(failure, RETRY_MS);
    else this.#failure = undefined;
  }

  /** If the mirror cannot be written, the next process has to read the registry again. */
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

  async #use({ head, servers }: RegistryMirror, changed = true): Promise<void> {
    const known = this.#current;
    const candidates = known && !changed ? known.candidates : await this.#convert(servers);
    this.#current = { head, candidates };
  }

  async #convert(servers: ReadonlyMap<string, ServerJson>): Promise<readonly Candidate[]> {
    const candidates: Candidate[] = [];
    let count = 0;
    for (const server of servers.values()) {
      if (++count % SERVERS_PER_TURN === 0) await turn();
      const candidate = toCandidate(server, this.#machine);
      if (!("reason" in candidate)) candidates.push(candidate);
      else this.#parts.log.debug(`${server.name} cannot be offered: ${candidate.reason}`);
    }
    return candidates;
  }

  async #wait(done: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#parts;
    // The wait counts from the start of the refresh, so a repeated request does not wait again.
    const left = this.#startedAt + this.#firstWaitMs - clock.now();
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
    const head = this.#current?.head;
    const why = this.#failure?.reason.replace(`${url.host}: `, "");
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

/** Accesses the global lazily, because the first access loads the HTTP client. */
const lazyFetch: Fetch = async (...args) => await globalThis.fetch(...args);

/** What servers of this registry can run with here. */
export function machineOf(base: Base | undefined, env: Env): Machine {
  return {
    has: memoized((command) => onPath(command, env)),
    plain: base?.url.protocol === "http:",
    checked: base?.url.origin === DEFAULT_REGISTRY,
  };
}

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

/** The approved tools on disk: reads and compares them, stores new ones and reports changes. Approves only on request, and never overwrites a file that it cannot read unless the user approves. */
import { join } from "node:path";
import { readIfThere, writeAtomic } from "../../home/file.ts";
import { withLock } from "../../home/lock.ts";
import { safeName } from "../../home/safe-name.ts";
import type { ServerId } from "../../kernel/call.ts";
import type { ListKey } from "../../kernel/list-key.ts";
import type { Log } from "../../kernel/log.ts";
import type { Tool } from "../tool.ts";
import {
  NOTHING_CHANGED,
  type Review,
  shownName,
  shownNames,
  type ToolChange,
  whatHappened,
} from "./change.ts";
import { digestOf, type Fingerprint, fingerprintsOf } from "./fingerprint.ts";
import { decodePins, encodePins, type PinEntry } from "./pin-file.ts";
import { approved, type FingerprintedList, type ReviewOutcome, review } from "./review.ts";

/** One list of one server. */
export interface ReviewedList {
  readonly server: ServerId;
  /** The list key that it came over. */
  readonly key: ListKey;
  readonly identity: string;
  readonly tools: readonly Tool[];
  /** True for a list from a connected child. Lists from the disk cache are not stored as approved. */
  readonly live: boolean;
  /** Computed on first use. */
  fingerprints?: Promise<readonly Fingerprint[]>;
}

export interface PinsParts {
  readonly home: string;
  readonly log: Log;
  /** True if tools that are not approved are blocked. */
  readonly enforced: boolean;
  /** True if the user reads this log. Otherwise changes stay unreported, so that another process reports them. */
  readonly userReadsLog: boolean;
}

/** Limits the log lines for one list. */
const MAX_REPORTED = 10;

export function pinsPath(home: string, server: ServerId): string {
  return join(home, "pins", `${safeName(server)}.json`);
}

export class Pins {
  readonly #home: string;
  readonly #log: Log;
  readonly #enforced: boolean;
  readonly #reports: boolean;
  /** Entries that could not be written; they apply until the process ends. */
  readonly #unwritten = new Map<string, PinEntry>();
  readonly #logged = new Set<string>();

  constructor({ home, log, enforced, userReadsLog }: PinsParts) {
    this.#home = home;
    this.#log = log;
    this.#enforced = enforced;
    this.#reports = userReadsLog;
  }

  async compare(list: ReviewedList): Promise<Review> {
    const { server, tools, live } = list;
    let stored: readonly PinEntry[];
    try {
      stored = await this.#read(server);
    } catch (error) {
      return this.#unreadable(list, error as Error);
    }
    const before = this.#entryOf(list, stored);
    const others = othersOf(list, stored);
    const digest = digestOf(tools);
    if (before?.digest === digest) return NOTHING_CHANGED;
    if (!before && (tools.length === 0 || (!live && others.length === 0))) return NOTHING_CHANGED;
    const listed = await fingerprinted(list, digest);
    const outcome = review(before, listed, others);
    const silent = !live || (before && !this.#reports);
    if (silent) return { changes: outcome.changes, removed: outcome.removed };
    return this.#report(list, outcome.entry === before ? outcome : await this.#record(list, listed, outcome));
  }

  /** Approves the named tools (default: all) as they are in the list. Rejects if the file cannot be written. */
  async approve(list: ReviewedList, names?: ReadonlySet<string>): Promise<void> {
    const { server } = list;
    const listed = await fingerprinted(list, digestOf(list.tools));
    const path = pinsPath(this.#home, server);
    await withLock(path, async () => {
      // An unreadable file is replaced: approving is how the user repairs it.
      const stored = await this.#read(server).catch((): readonly PinEntry[] => []);
      await writeAtomic(path, encodePins(approved(this.#entryOf(list, stored), listed, names), stored));
    });
    this.#unwritten.delete(keyOf(list));
  }

  /** Compares again under the lock, because another gateway may have stored an entry since. */
  async #record(list: ReviewedList, listed: FingerprintedList, seen: ReviewOutcome): Promise<ReviewOutcome> {
    const { server } = list;
    const path = pinsPath(this.#home, server);
    try {
      return await withLock(path, async () => {
        const stored = await this.#read(server);
        const before = this.#entryOf(list, stored);
        const outcome = review(before, listed, othersOf(list, stored));
        if (outcome.entry && outcome.entry !== before)
          await writeAtomic(path, encodePins(outcome.entry, stored));
        return outcome;
      });
    } catch (error) {
      if (seen.entry) this.#unwritten.set(keyOf(list), seen.entry);
      this.#once(`unwritten ${server}`, () =>
        this.#log.error(
          `${server}: its tools cannot be recorded, so changes are detected only until MetaMCP stops: ${(error as Error).message}`,
          { server, path },
        ),
      );
      return seen;
    }
  }

  #entryOf(list: ReviewedList, stored: readonly PinEntry[]): PinEntry | undefined {
    const { identity, key } = list;
    const own = stored.filter((entry) => entry.identity === identity);
    return (
      own.find((entry) => entry.key === key) ??
      this.#unwritten.get(keyOf(list)) ??
      own.find((entry) => entry.key === undefined)
    );
  }

  /** Empty if there is no file. Rejects if the file is not a valid file of pins. */
  async #read(server: ServerId): Promise<readonly PinEntry[]> {
    const text = await readIfThere(pinsPath(this.#home, server));
    return text === undefined ? [] : decodePins(text);
  }

  async #unreadable(list: ReviewedList, { message }: Error): Promise<Review> {
    const { server } = list;
    const path = pinsPath(this.#home, server);
    const effect = this.#enforced
      ? "all its tools are blocked until they are approved"
      : "changes of its tools are not detected";
    const fault = `The approved tools of ${server} cannot be read (${path}: ${message})`;
    this.#once(`unreadable ${server}`, () =>
      this.#log.error(`${fault}: ${effect}: metamcp approve ${server}`, { server, path }),
    );
    list.fingerprints ??= fingerprintsOf(list.tools);
    const changes = (await list.fingerprints).map(
      ({ name: tool, definition: after }) => ({ tool, kind: "unknown", parts: [], after }) as const,
    );
    return { changes, removed: [], fault };
  }

  /** Logs a warning when a change is reported for the first time, and an info line in each later process that sees it. */
  #report(list: ReviewedList, { changes, removed, unreported }: ReviewOutcome): Review {
    const { server } = list;
    const first = new Set(unreported);
    const lines = changes.filter((change) => this.#first(`${keyOf(list)} ${change.tool} ${change.after}`));
    for (const change of lines.slice(0, MAX_REPORTED)) this.#logChange(server, change, first.has(change));
    if (lines.length > MAX_REPORTED)
      this.#log.warn(
        `${server}: ${lines.length - MAX_REPORTED} more of its tools changed since they were approved: metamcp approve ${server}`,
        { server },
      );
    if (removed.length > 0 && this.#first(`${keyOf(list)} removed ${removed.join()}`))
      this.#log.info(`${server} no longer lists: ${shownNames(removed).join(", ")}`, { server });
    return { changes, removed };
  }

  #logChange(server: ServerId, change: ToolChange, first: boolean): void {
    const tool = shownName(change.tool);
    const held = this.#enforced ? " and is blocked until it is approved" : "";
    const harmless = change.kind === "new" && !this.#enforced;
    const advice = harmless ? "" : `: metamcp approve ${server}`;
    const line = `${server}: ${tool} ${whatHappened(change)}${held}${advice}`;
    this.#log[first && !harmless ? "warn" : "info"](line, { server, tool, changed: change.parts });
  }

  #first(id: string): boolean {
    if (this.#logged.has(id)) return false;
    this.#logged.add(id);
    return true;
  }

  #once(id: string, log: () => void): void {
    if (this.#first(id)) log();
  }
}

async function fingerprinted(list: ReviewedList, digest: string): Promise<FingerprintedList> {
  list.fingerprints ??= fingerprintsOf(list.tools);
  const { identity, key } = list;
  return { identity, key, fingerprints: await list.fingerprints, digest };
}

/** The entries of the same server for other list keys. */
function othersOf({ identity, key }: ReviewedList, stored: readonly PinEntry[]): readonly PinEntry[] {
  return stored.filter((entry) => entry.identity === identity && entry.key !== key);
}

function keyOf({ server, identity, key }: ReviewedList): string {
  return JSON.stringify([server, identity, key]);
}

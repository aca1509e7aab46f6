/** The pins on disk: reads, compares, records and tells. Approves only what it is told to, and never writes over a file that it cannot read. */
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
import { digestOf, type Print, printsOf } from "./fingerprint.ts";
import { decodePins, encodePins, type PinEntry } from "./pin-file.ts";
import { approved, type Listed, type ReviewOutcome, review } from "./review.ts";

/** One list of one server. */
export interface Subject {
  readonly server: ServerId;
  /** Over which it came. */
  readonly key: ListKey;
  readonly identity: string;
  readonly tools: readonly Tool[];
  /** Its own word, not that of an earlier run: only this is recorded. */
  readonly live: boolean;
  /** Made when first needed. */
  prints?: Promise<readonly Print[]>;
}

export interface PinsParts {
  readonly home: string;
  readonly log: Log;
  /** What is not approved is kept out of use. */
  readonly enforced: boolean;
  /** The user reads this log; else a change stays untold, for someone whose log is read. */
  readonly tell: boolean;
}

/** More lines than this tell nobody more. */
const MOST_TOLD = 10;

export function pinsPath(home: string, server: ServerId): string {
  return join(home, "pins", `${safeName(server)}.json`);
}

export class Pins {
  readonly #home: string;
  readonly #log: Log;
  readonly #enforced: boolean;
  readonly #tells: boolean;
  /** What could not be written holds at least for this run. */
  readonly #unwritten = new Map<string, PinEntry>();
  readonly #said = new Set<string>();

  constructor({ home, log, enforced, tell }: PinsParts) {
    this.#home = home;
    this.#log = log;
    this.#enforced = enforced;
    this.#tells = tell;
  }

  async compare(subject: Subject): Promise<Review> {
    const { server, tools, live } = subject;
    let there: readonly PinEntry[];
    try {
      there = await this.#read(server);
    } catch (error) {
      return this.#unreadable(subject, error as Error);
    }
    const before = this.#entryOf(subject, there);
    const others = othersOf(subject, there);
    const digest = digestOf(tools);
    if (before?.digest === digest) return NOTHING_CHANGED;
    if (!before && (tools.length === 0 || (!live && others.length === 0))) return NOTHING_CHANGED;
    const listed = await listedOf(subject, digest);
    const outcome = review(before, listed, others);
    const silent = !live || (before && !this.#tells);
    if (silent) return { changes: outcome.changes, removed: outcome.removed };
    return this.#told(
      subject,
      outcome.entry === before ? outcome : await this.#record(subject, listed, outcome),
    );
  }

  /** Takes these tools, or all, as they are in the list. Rejects if that cannot be written down. */
  async approve(subject: Subject, names?: ReadonlySet<string>): Promise<void> {
    const { server } = subject;
    const listed = await listedOf(subject, digestOf(subject.tools));
    const path = pinsPath(this.#home, server);
    await withLock(path, async () => {
      // What cannot be read is no reason to refuse: this is how it is mended.
      const there = await this.#read(server).catch((): readonly PinEntry[] => []);
      await writeAtomic(path, encodePins(approved(this.#entryOf(subject, there), listed, names), there));
    });
    this.#unwritten.delete(keyOf(subject));
  }

  /** By now another gateway may have seen more: what it recorded counts. */
  async #record(subject: Subject, listed: Listed, seen: ReviewOutcome): Promise<ReviewOutcome> {
    const { server } = subject;
    const path = pinsPath(this.#home, server);
    try {
      return await withLock(path, async () => {
        const there = await this.#read(server);
        const before = this.#entryOf(subject, there);
        const outcome = review(before, listed, othersOf(subject, there));
        if (outcome.entry && outcome.entry !== before)
          await writeAtomic(path, encodePins(outcome.entry, there));
        return outcome;
      });
    } catch (error) {
      if (seen.entry) this.#unwritten.set(keyOf(subject), seen.entry);
      this.#once(`unwritten ${server}`, () =>
        this.#log.error(
          `${server}: its tools cannot be recorded, so changes are detected only until MetaMCP stops: ${(error as Error).message}`,
          { server, path },
        ),
      );
      return seen;
    }
  }

  #entryOf(subject: Subject, there: readonly PinEntry[]): PinEntry | undefined {
    const { identity, key } = subject;
    const own = there.filter((entry) => entry.identity === identity);
    return (
      own.find((entry) => entry.key === key) ??
      this.#unwritten.get(keyOf(subject)) ??
      own.find((entry) => entry.key === undefined)
    );
  }

  /** None where there is no file; rejects where there is one that is not ours. */
  async #read(server: ServerId): Promise<readonly PinEntry[]> {
    const text = await readIfThere(pinsPath(this.#home, server));
    return text === undefined ? [] : decodePins(text);
  }

  async #unreadable(subject: Subject, { message }: Error): Promise<Review> {
    const { server } = subject;
    const path = pinsPath(this.#home, server);
    const effect = this.#enforced
      ? "all its tools are blocked until they are approved"
      : "changes of its tools are not detected";
    const fault = `The approved tools of ${server} cannot be read (${path}: ${message})`;
    this.#once(`unreadable ${server}`, () =>
      this.#log.error(`${fault}: ${effect}: metamcp approve ${server}`, { server, path }),
    );
    subject.prints ??= printsOf(subject.tools);
    const changes = (await subject.prints).map(
      ({ name: tool, definition: after }) => ({ tool, kind: "unknown", parts: [], after }) as const,
    );
    return { changes, removed: [], fault };
  }

  /** A warning when a change is first seen by anyone; a line of information in every other run that meets it. */
  #told(subject: Subject, { changes, removed, untold }: ReviewOutcome): Review {
    const { server } = subject;
    const first = new Set(untold);
    const lines = changes.filter((change) => this.#first(`${keyOf(subject)} ${change.tool} ${change.after}`));
    for (const change of lines.slice(0, MOST_TOLD)) this.#tell(server, change, first.has(change));
    if (lines.length > MOST_TOLD)
      this.#log.warn(
        `${server}: ${lines.length - MOST_TOLD} more of its tools changed since they were approved: metamcp approve ${server}`,
        { server },
      );
    if (removed.length > 0 && this.#first(`${keyOf(subject)} removed ${removed.join()}`))
      this.#log.info(`${server} no longer lists: ${shownNames(removed).join(", ")}`, { server });
    return { changes, removed };
  }

  #tell(server: ServerId, change: ToolChange, first: boolean): void {
    const tool = shownName(change.tool);
    const held = this.#enforced ? " and is blocked until it is approved" : "";
    const harmless = change.kind === "new" && !this.#enforced;
    const advice = harmless ? "" : `: metamcp approve ${server}`;
    const line = `${server}: ${tool} ${whatHappened(change)}${held}${advice}`;
    this.#log[first && !harmless ? "warn" : "info"](line, { server, tool, changed: change.parts });
  }

  #first(what: string): boolean {
    if (this.#said.has(what)) return false;
    this.#said.add(what);
    return true;
  }

  #once(what: string, say: () => void): void {
    if (this.#first(what)) say();
  }
}

async function listedOf(subject: Subject, digest: string): Promise<Listed> {
  subject.prints ??= printsOf(subject.tools);
  const { identity, key } = subject;
  return { identity, key, prints: await subject.prints, digest };
}

/** What was approved of the same server over other keys. */
function othersOf({ identity, key }: Subject, there: readonly PinEntry[]): readonly PinEntry[] {
  return there.filter((entry) => entry.identity === identity && entry.key !== key);
}

function keyOf({ server, identity, key }: Subject): string {
  return JSON.stringify([server, identity, key]);
}

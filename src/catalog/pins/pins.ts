/**
 * The approved tools: reads and compares them, stores new ones and reports changes. Approves only on request,
 * and never overwrites stored tools that it cannot read unless the user approves.
 */
import type { ServerId } from "../../kernel/call.ts";
import type { ListKey } from "../../kernel/list-key.ts";
import type { Log } from "../../kernel/log.ts";
import { asRaw } from "../../kernel/raw.ts";
import type { Sign, SignContext } from "../signs/sign.ts";
import {
  hasHardSign,
  itemKey,
  NOTHING_CHANGED,
  type PinnedKind,
  type Review,
  shownItem,
  shownName,
  shownNames,
  type ToolChange,
  whatHappened,
} from "./change.ts";
import { digestOf, type Fingerprint, fingerprintsOf, type Pinnable } from "./fingerprint.ts";
import { decodePins, encodePins, type PinEntry } from "./pin-file.ts";
import type { PinStorage } from "./pin-storage.ts";
import { alsoApproved, approved, type FingerprintedList, type ReviewOutcome, review } from "./review.ts";

/** One list of one server: its tools, its prompts, or its instructions as a list of one. */
export interface ReviewedList {
  readonly of: PinnedKind;
  readonly server: ServerId;
  /** The list key that it came over. */
  readonly key: ListKey;
  readonly identity: string;
  readonly items: readonly Pinnable[];
  /** True for a list from a connected child. Lists from the disk cache are not stored as approved. */
  readonly live: boolean;
  /** Computed on first use. */
  fingerprints?: Promise<readonly Fingerprint[]>;
  signs?: Promise<FingerprintedList["signs"]>;
}

export interface PinsParts {
  readonly log: Log;
  /** True if tools that are not approved are blocked. */
  readonly enforced: boolean;
  /**
   * True if the user reads this log. Otherwise changes stay unreported, so that another process reports them.
   */
  readonly userReadsLog: boolean;
  /** What models see beside the lists of the server. */
  readonly signContext: (server: ServerId, listed: readonly string[]) => SignContext;
}

/** Limits the log lines for one list. */
const MAX_REPORTED = 10;

export class Pins {
  readonly #storage: PinStorage;
  readonly #log: Log;
  readonly #enforced: boolean;
  readonly #reports: boolean;
  readonly #context: PinsParts["signContext"];
  /** Entries that could not be written; they apply until the process ends. */
  readonly #unwritten = new Map<string, PinEntry>();
  readonly #logged = new Set<string>();

  constructor(storage: PinStorage, { log, enforced, userReadsLog, signContext }: PinsParts) {
    this.#storage = storage;
    this.#context = signContext;
    this.#log = log;
    this.#enforced = enforced;
    this.#reports = userReadsLog;
  }

  async compare(list: ReviewedList): Promise<Review> {
    const { server, items, live } = list;
    let stored: readonly PinEntry[];
    try {
      stored = entriesIn(await this.#storage.read(server));
    } catch (error) {
      return this.#unreadable(list, error as Error);
    }
    const before = this.#entryOf(list, stored);
    const others = othersOf(list, stored);
    const digest = digestOf(items);
    const reviewed = (before?.tools ?? []).flatMap(({ name, sight }) =>
      sight === "reviewed" ? [itemKey(list.of, name)] : [],
    );
    if (before?.digest === digest) return { ...NOTHING_CHANGED, reviewed };
    if (!before && (items.length === 0 || (!live && others.length === 0))) return NOTHING_CHANGED;
    const listed = await this.#fingerprinted(list, digest);
    const outcome = review(before, listed, others);
    const silent = !live || (before && !this.#reports);
    if (silent) return { changes: outcome.changes, removed: outcome.removed, reviewed };
    const recorded = outcome.entry === before ? outcome : await this.#record(list, listed, outcome);
    return { ...this.#report(list, recorded), reviewed };
  }

  /** Approves the named tools (default: all) as they are in the list. Rejects if that cannot be stored. */
  async approve(list: ReviewedList, names?: ReadonlySet<string>): Promise<void> {
    const listed = await this.#fingerprinted(list, digestOf(list.items));
    await this.#storage.update(list.server, (text) => {
      const stored = readableEntries(text);
      const others = stored.map((entry) => alsoApproved(entry, listed, names));
      return encodePins(approved(this.#entryOf(list, stored), listed, names), others);
    });
    this.#unwritten.delete(keyOf(list));
  }

  /** Compares again under the lock, because another gateway may have stored an entry since. */
  async #record(list: ReviewedList, listed: FingerprintedList, seen: ReviewOutcome): Promise<ReviewOutcome> {
    const { server } = list;
    let outcome = seen;
    try {
      await this.#storage.update(server, (text) => {
        const stored = entriesIn(text);
        const before = this.#entryOf(list, stored);
        outcome = review(before, listed, othersOf(list, stored));
        return outcome.entry && outcome.entry !== before ? encodePins(outcome.entry, stored) : undefined;
      });
      return outcome;
    } catch (error) {
      if (seen.entry) this.#unwritten.set(keyOf(list), seen.entry);
      this.#once(`unwritten ${server}`, () =>
        this.#log.error(
          `${server}: what it lists cannot be recorded, so changes are detected only until MetaMCP stops: ${(error as Error).message}`,
          { server, path: this.#storage.placeOf(server) },
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

  async #unreadable(list: ReviewedList, { message }: Error): Promise<Review> {
    const { server } = list;
    const path = this.#storage.placeOf(server);
    const effect = this.#enforced
      ? "all its tools are blocked until they are approved"
      : "changes of its tools are not detected";
    const fault = `The approved tools of ${server} cannot be read (${path}: ${message})`;
    this.#once(`unreadable ${server}`, () =>
      this.#log.error(`${fault}: ${effect}: metamcp approve ${server}`, { server, path }),
    );
    const { of, fingerprints, signs } = await this.#fingerprinted(list, "");
    const changes = fingerprints.map(
      ({ name: tool, definition: after }) =>
        ({ of, tool, kind: "unknown", parts: [], after, signs: signs.get(tool) ?? [] }) as const,
    );
    return { changes, removed: [], fault };
  }

  /**
   * Logs a warning when a change is reported for the first time, and an info line in each later process that
   * sees it.
   */
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
      this.#log.info(`${server} no longer lists: ${shownNames(removed.map(shownName)).join(", ")}`, {
        server,
      });
    return { changes, removed };
  }

  #logChange(server: ServerId, change: ToolChange, first: boolean): void {
    const tool = shownItem(change);
    const held = this.#enforced ? " and is blocked until it is approved" : "";
    const harmless = change.kind === "new" && !this.#enforced && !hasHardSign(change);
    const advice = harmless ? "" : `: metamcp approve ${server}`;
    const line = `${server}: ${tool} ${whatHappened(change)}${held}${advice}`;
    this.#log[first && !harmless ? "warn" : "info"](line, { server, tool, changed: change.parts });
  }

  async #fingerprinted(list: ReviewedList, digest: string): Promise<FingerprintedList> {
    const { of, identity, key, items, server } = list;
    list.fingerprints ??= fingerprintsOf(of, items);
    const fingerprints = await list.fingerprints;
    const listed = of === "tools" ? items.map(({ name }) => name) : [];
    list.signs ??= signsOf(fingerprints, this.#context(server, listed));
    return { of, identity, key, fingerprints, digest, signs: await list.signs };
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

/** Empty if nothing is stored. Throws if the text is no valid file of pins. */
function entriesIn(text: string | undefined): readonly PinEntry[] {
  return text === undefined ? [] : decodePins(text);
}

/** Unreadable text is replaced: approving is how the user repairs it. */
function readableEntries(text: string | undefined): readonly PinEntry[] {
  try {
    return entriesIn(text);
  } catch {
    return [];
  }
}

/** Of what is in the fingerprints, so that an approval is for the texts that were checked and no others. */
async function signsOf(
  fingerprints: readonly Fingerprint[],
  context: SignContext,
): Promise<ReadonlyMap<string, readonly Sign[]>> {
  const { signsByName } = await import("../signs/signs-by-name.ts");
  const definitions = fingerprints.map(({ name, definition }) => ({
    name,
    definition: asRaw(Buffer.from(definition)),
  }));
  return await signsByName(definitions, context);
}

/** The entries of the same server for other list keys. */
function othersOf(
  { identity, key }: Pick<ReviewedList, "identity" | "key">,
  stored: readonly PinEntry[],
): readonly PinEntry[] {
  return stored.filter((entry) => entry.identity === identity && entry.key !== key);
}

function keyOf({ server, identity, key }: ReviewedList): string {
  return JSON.stringify([server, identity, key]);
}

/**
 * Compares the tools that a server lists with the approved ones. Pure: the result says what to store and what
 * to report.
 */

import type { ListKey } from "../../kernel/list-key.ts";
import { asRaw } from "../../kernel/raw.ts";
import { entries } from "../../rpc/slice.ts";
import type { Sign } from "../signs/sign.ts";
import { hasHardSign, type PinnedKind, type ToolChange } from "./change.ts";
import type { Fingerprint } from "./fingerprint.ts";
import type { Pin, PinEntry } from "./pin-file.ts";

/** Larger definitions are not stored and compared only by their hash. */
const MAX_STORED_LENGTH = 65_536;
/** Limits the stored tools that are no longer listed and were never approved. */
const MAX_UNAPPROVED_GONE = 1_000;

export interface FingerprintedList {
  readonly of: PinnedKind;
  readonly identity: string;
  readonly key: ListKey;
  readonly fingerprints: readonly Fingerprint[];
  /** By name; without those that have none. */
  readonly signs: ReadonlyMap<string, readonly Sign[]>;
  /** The hash of the whole list as written. */
  readonly digest: string;
}

export interface ReviewOutcome {
  readonly changes: readonly ToolChange[];
  readonly removed: readonly string[];
  /** The changes that were not reported to the user yet. */
  readonly unreported: readonly ToolChange[];
  /** The entry to store. It is the given object if nothing must be written. */
  readonly entry: PinEntry | undefined;
}

/**
 * The first non-empty list of each list key is trusted, except for what has a hard sign. Tools that were
 * approved for another key (`others`) must be unchanged, so that a changed tool does not pass only because a
 * client has other capabilities.
 */
export function review(
  entry: PinEntry | undefined,
  listed: FingerprintedList,
  others: readonly PinEntry[] = [],
): ReviewOutcome {
  const nothing = { changes: [], removed: [], unreported: [] };
  if (entry) return compare(entry, listed);
  const { identity, key, fingerprints } = listed;
  if (fingerprints.length === 0) return { ...nothing, entry: undefined };
  return compare(
    { identity, key, tools: fingerprints.map((fingerprint) => firstPin(fingerprint, others)) },
    listed,
  );
}

function firstPin(fingerprint: Fingerprint, others: readonly PinEntry[]): Pin {
  const known = others.flatMap(({ tools }) =>
    tools.filter(({ name, fresh }) => name === fingerprint.name && !fresh),
  );
  const same = known.filter(({ hash }) => hash === fingerprint.hash);
  if (same.some(({ sight }) => sight === "reviewed")) return reviewed(fingerprint);
  if (known.length === 0 || same.length > 0) return pinOf(fingerprint);
  const { told: _, ...pin } = known[0] as Pin;
  return pin;
}

function compare(entry: PinEntry, list: FingerprintedList): ReviewOutcome {
  const { identity, key, digest, fingerprints } = list;
  const pins = new Map(entry.tools.map((pin) => [pin.name, pin]));
  const present = new Set(fingerprints.map(({ name }) => name));
  const changes: ToolChange[] = [];
  const unreported: ToolChange[] = [];
  const kept: Pin[] = fingerprints.map((fingerprint) => {
    const pin = pins.get(fingerprint.name) ?? ({ ...pinOf(fingerprint), fresh: true } as const);
    const change = changeOf(pin, fingerprint, list);
    if (!change) return pin;
    changes.push(change);
    const told = pins.has(pin.name) && (change.kind === "new" || pin.told === fingerprint.hash);
    if (!told) unreported.push(change);
    if (change.kind === "new" || told) return pin;
    const sight = change.kind === "suspect" ? ({ sight: "suspect" } as const) : {};
    return { ...pin, ...sight, told: fingerprint.hash };
  });
  const gone = entry.tools.filter(({ name }) => !present.has(name));
  const removed = gone.filter(({ fresh }) => !fresh);
  const unapproved = gone.filter(({ fresh }) => fresh).slice(0, MAX_UNAPPROVED_GONE);
  const approvedDigest = changes.length === 0 ? { digest } : {};
  const next: PinEntry = { identity, key, ...approvedDigest, tools: [...kept, ...removed, ...unapproved] };
  return {
    changes,
    unreported,
    removed: removed.map(({ name }) => name),
    entry: sameEntry(entry, next) ? entry : next,
  };
}

/**
 * The entry with the named tools (default: all) approved as listed. Tools that are not listed stay as they
 * were.
 */
export function approved(
  entry: PinEntry | undefined,
  list: FingerprintedList,
  names?: ReadonlySet<string>,
): PinEntry {
  const { identity, key, digest, fingerprints } = list;
  const chosen = new Map(
    fingerprints
      .filter(({ name }) => names?.has(name) ?? true)
      .map((fingerprint) => [fingerprint.name, reviewed(fingerprint)]),
  );
  const others = (entry?.tools ?? []).filter(({ name }) => !chosen.has(name));
  const tools = [...chosen.values(), ...others];
  const { changes } = compare({ identity, key, tools }, list);
  return { identity, key, ...(changes.length === 0 ? { digest } : {}), tools };
}

/**
 * Another entry of the server after the same approval: the tools that were reported for its list key as they
 * are approved now. Whoever approves sees only the keys of one process.
 */
export function alsoApproved(
  entry: PinEntry,
  { identity, fingerprints }: Pick<FingerprintedList, "identity" | "fingerprints">,
  names?: ReadonlySet<string>,
): PinEntry {
  if (entry.identity !== identity) return entry;
  const chosen = new Map(
    fingerprints.filter(({ name }) => names?.has(name) ?? true).map((one) => [one.name, one]),
  );
  const tools = entry.tools.map((pin) => {
    const now = chosen.get(pin.name);
    const seen = pin.fresh ? pin.hash : pin.told;
    return now && seen === now.hash ? reviewed(now) : pin;
  });
  return { ...entry, tools };
}

function pinOf({ name, hash, definition }: Fingerprint): Pin {
  return { name, hash, ...(definition.length <= MAX_STORED_LENGTH ? { definition } : {}) };
}

function reviewed(fingerprint: Fingerprint): Pin {
  return { ...pinOf(fingerprint), sight: "reviewed" };
}

/** Undefined if it is approved, or trusted at first sight. */
function changeOf(
  pin: Pin,
  { name: tool, hash, definition: after }: Fingerprint,
  { of, signs: all }: FingerprintedList,
): ToolChange | undefined {
  const signs = all.get(tool) ?? [];
  const about = { of, tool, after, signs };
  if (pin.hash === hash) {
    if (pin.fresh) return { ...about, kind: "new", parts: [] };
    const suspect = pin.sight === "suspect" || (pin.sight !== "reviewed" && hasHardSign({ signs }));
    return suspect ? { ...about, kind: "suspect", parts: [] } : undefined;
  }
  const { definition: before } = pin;
  if (before === undefined) return { ...about, kind: "changed", parts: [] };
  return { ...about, kind: "changed", parts: changedParts(before, after), before };
}

function changedParts(before: string, after: string): readonly string[] {
  const [a, b] = [membersOf(before), membersOf(after)];
  return [...new Set([...a.keys(), ...b.keys()])].filter((part) => a.get(part) !== b.get(part)).sort();
}

function membersOf(definition: string): ReadonlyMap<string, string> {
  return new Map(entries(asRaw(Buffer.from(definition))).map(([key, value]) => [key, value.toString()]));
}

/** Ignores the order of the tools: a reordered list is not written again. */
function sameEntry(a: PinEntry, b: PinEntry): boolean {
  if (a.key !== b.key || a.digest !== b.digest || a.tools.length !== b.tools.length) return false;
  const pins = new Set(a.tools);
  return b.tools.every((pin) => pins.has(pin));
}

/** Compares what a server lists with what was approved of it. A pure function: what is to be kept and told is its result. */

import type { ListKey } from "../../kernel/list-key.ts";
import { asRaw } from "../../kernel/raw.ts";
import { entries } from "../../rpc/slice.ts";
import type { ToolChange } from "./change.ts";
import type { Print } from "./fingerprint.ts";
import type { Pin, PinEntry } from "./pin-file.ts";

/** Larger definitions are compared by their hash alone. */
const LARGEST_KEPT = 65_536;
/** Tools that came and went without ever being approved. */
const MOST_GONE = 1_000;

export interface Listed {
  readonly identity: string;
  readonly key: ListKey;
  readonly prints: readonly Print[];
  /** Of the list as written. */
  readonly digest: string;
}

export interface ReviewOutcome {
  readonly changes: readonly ToolChange[];
  readonly removed: readonly string[];
  /** Those of the changes that the user was not told of yet. */
  readonly untold: readonly ToolChange[];
  /** What is to be kept: the very entry that was given if nothing is to be written. */
  readonly entry: PinEntry | undefined;
}

/**
 * The first sight of a server is trusted, over each key; an empty list is no sight of it. What was approved over
 * another key (`others`) must still be the same: who comes with other capabilities does not make a changed tool good.
 */
export function review(
  entry: PinEntry | undefined,
  listed: Listed,
  others: readonly PinEntry[] = [],
): ReviewOutcome {
  const nothing = { changes: [], removed: [], untold: [] };
  if (entry) return compare(entry, listed);
  const { identity, key, prints } = listed;
  if (prints.length === 0) return { ...nothing, entry: undefined };
  return compare({ identity, key, tools: prints.map((print) => firstPin(print, others)) }, listed);
}

function firstPin(print: Print, others: readonly PinEntry[]): Pin {
  const known = others.flatMap(({ tools }) =>
    tools.filter(({ name, fresh }) => name === print.name && !fresh),
  );
  if (known.length === 0 || known.some(({ hash }) => hash === print.hash)) return pinOf(print);
  const { told: _, ...pin } = known[0] as Pin;
  return pin;
}

function compare(entry: PinEntry, { identity, key, digest, prints }: Listed): ReviewOutcome {
  const pins = new Map(entry.tools.map((pin) => [pin.name, pin]));
  const present = new Set(prints.map(({ name }) => name));
  const changes: ToolChange[] = [];
  const untold: ToolChange[] = [];
  const kept: Pin[] = prints.map((print) => {
    const pin = pins.get(print.name) ?? ({ ...pinOf(print), fresh: true } as const);
    if (pin.hash === print.hash && !pin.fresh) return pin;
    const change = changeOf(pin, print);
    changes.push(change);
    const told = pins.has(pin.name) && (change.kind === "new" || pin.told === print.hash);
    if (!told) untold.push(change);
    return change.kind === "new" || told ? pin : { ...pin, told: print.hash };
  });
  const gone = entry.tools.filter(({ name }) => !present.has(name));
  const removed = gone.filter(({ fresh }) => !fresh);
  const passing = gone.filter(({ fresh }) => fresh).slice(0, MOST_GONE);
  const whole = changes.length === 0 ? { digest } : {};
  const next: PinEntry = { identity, key, ...whole, tools: [...kept, ...removed, ...passing] };
  return {
    changes,
    untold,
    removed: removed.map(({ name }) => name),
    entry: sameEntry(entry, next) ? entry : next,
  };
}

/** The same entry with these tools approved as they are now; all of them unless named. What is not listed stays approved as it was. */
export function approved(
  entry: PinEntry | undefined,
  { identity, key, digest, prints }: Listed,
  names?: ReadonlySet<string>,
): PinEntry {
  const chosen = new Map(
    prints.filter(({ name }) => names?.has(name) ?? true).map((print) => [print.name, pinOf(print)]),
  );
  const others = (entry?.tools ?? []).filter(({ name }) => !chosen.has(name));
  const tools = [...chosen.values(), ...others];
  const { changes } = compare({ identity, key, tools }, { identity, key, digest, prints });
  return { identity, key, ...(changes.length === 0 ? { digest } : {}), tools };
}

function pinOf({ name, hash, definition }: Print): Pin {
  return { name, hash, ...(definition.length <= LARGEST_KEPT ? { definition } : {}) };
}

function changeOf(pin: Pin, print: Print): ToolChange {
  const { name: tool, definition: after } = print;
  if (pin.hash === print.hash) return { tool, kind: "new", parts: [], after };
  const { definition: before } = pin;
  if (before === undefined) return { tool, kind: "changed", parts: [], after };
  return { tool, kind: "changed", parts: partsThatDiffer(before, after), before, after };
}

function partsThatDiffer(before: string, after: string): readonly string[] {
  const [a, b] = [membersOf(before), membersOf(after)];
  return [...new Set([...a.keys(), ...b.keys()])].filter((part) => a.get(part) !== b.get(part)).sort();
}

function membersOf(definition: string): ReadonlyMap<string, string> {
  return new Map(entries(asRaw(Buffer.from(definition))).map(([key, value]) => [key, value.toString()]));
}

/** Order counts for nothing: a list in another order is no reason to write. */
function sameEntry(a: PinEntry, b: PinEntry): boolean {
  if (a.key !== b.key || a.digest !== b.digest || a.tools.length !== b.tools.length) return false;
  const pins = new Set(a.tools);
  return b.tools.every((pin) => pins.has(pin));
}

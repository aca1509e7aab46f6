/**
 * Arguments and results for people who decide about them or read them later. The caller wrote them and must
 * not be able to hide a part: only secrets are masked, with their length; what is long is shortened in the
 * middle, each value by itself; invisible characters are escaped. Pure.
 */
import { isRecord } from "./is-record.ts";
import { isPlainlySecretName, isSecretName } from "./looks-secret.ts";
import type { Raw } from "./raw.ts";
import { hiddenText, withHiddenSecrets } from "./secret-spans.ts";
import { visibleLines } from "./visible.ts";

/**
 * "plain": known forms, and texts whose names only secrets have. "strict": also words that look random, and
 * everything below the name of a secret.
 */
export type Hiding = "nothing" | "plain" | "strict";

export interface ShownOptions {
  /** Characters of all texts together. A value that fits is shown completely. */
  readonly most: number;
  readonly hide: Hiding;
}

/** Texts keep at least this much. */
const SHORTEST_TEXT = 80;
/** If a value is too large: members of each object and list, and values in all. */
const MAX_MEMBERS = 100;
const MAX_VALUES = 500;
/** A secret at the border of a shortened text is found if it, with its name, is not longer than this. */
const CONTEXT = 512;
/** Strings, which stay as they are, and numbers that would lose digits when parsed. */
const LONG_NUMBERS = /("[^"\\]*(?:\\.[^"\\]*)*")|-?(?:\d[\d.]{15,}(?:[eE][+-]?\d+)?|\d[\d.]*[eE][+-]?\d+)/g;

/** The value to show. Long numbers become texts. */
export function shownValue(raw: Raw, options: ShownOptions): unknown {
  const written = raw.toString();
  const exact = /\d{16}|\d\.\d{15}|\d[eE]/.test(written)
    ? written.replaceAll(LONG_NUMBERS, (found, text?: string) => text ?? `"${found} (a number)"`)
    : written;
  const value: unknown = JSON.parse(exact);
  if (raw.length <= options.most) return mapped(value, (text) => readable(text, options), options);
  const few = withFewMembers(value, MAX_VALUES);
  const longest = longestFor(lengthsIn(few), options.most);
  return mapped(few, (text) => shortened(text, longest, options), options);
}

const SECRET_NAMES: Readonly<Record<Hiding, (name: string) => boolean>> = {
  nothing: () => false,
  plain: isPlainlySecretName,
  strict: isSecretName,
};

function masked(text: string, { hide }: ShownOptions): string {
  return hide === "nothing" ? text : withHiddenSecrets(text, { random: hide === "strict" });
}

/** One text, without secrets and not longer than `most`. */
export function shownText(text: string, most: number): string {
  return shortened(text, most, { most, hide: "strict" });
}

function readable(text: string, options: ShownOptions): string {
  return visibleLines(masked(text, options));
}

function mapped(
  value: unknown,
  show: (text: string) => string,
  options: ShownOptions,
  isSecret = false,
): unknown {
  const strict = options.hide === "strict";
  if (typeof value === "string") return isSecret && value !== "" ? hiddenText(value.length) : show(value);
  if (typeof value === "number") return isSecret && strict ? hiddenText(String(value).length) : value;
  if (Array.isArray(value)) return value.map((part) => mapped(part, show, options, isSecret));
  if (!isRecord(value)) return value;
  const shown = new Map<string, unknown>();
  for (const [name, part] of Object.entries(value)) {
    const secret = SECRET_NAMES[options.hide](name) || (strict && isSecret);
    shown.set(unused(show(name), shown), mapped(part, show, options, secret));
  }
  return Object.fromEntries(shown);
}

/** Two names may look the same when they are shown, and neither may replace the other. */
function unused(name: string, taken: ReadonlyMap<string, unknown>): string {
  let free = name;
  for (let n = 2; taken.has(free); n += 1) free = `${name} (${n})`;
  return free;
}

/** Beginning and end of the text. Secrets are masked before it is cut, so that no part of one remains. */
function shortened(text: string, longest: number, options: ShownOptions): string {
  if (text.length <= longest) return readable(text, options);
  const half = Math.floor(longest / 2);
  const begin = masked(text.slice(0, half + CONTEXT), options).slice(0, half);
  const end = masked(text.slice(-half - CONTEXT), options).slice(-half);
  return visibleLines(`${begin} … ${text.length - 2 * half} characters left out … ${end}`);
}

/** Beginning and end of each object and list. `room` is the number of values in it that are shown. */
function withFewMembers(value: unknown, room: number, sizes = new Map<object, number>()): unknown {
  const show = <T>(parts: readonly T[], inner: (part: T) => unknown) => {
    const { first, last, left } = ends(parts, room);
    const shown = [...first, ...last];
    const rooms = sharesOf(
      shown.map((part) => sizeOf(inner(part), sizes)),
      room - shown.length,
    );
    const few = shown.map((part, at) => withFewMembers(inner(part), rooms[at] as number, sizes));
    return { shown, few, border: first.length, left };
  };
  if (Array.isArray(value)) {
    const { few, border, left } = show(value, (part: unknown) => part);
    return left > 0 ? few.toSpliced(border, 0, `… ${left} values left out …`) : few;
  }
  if (!isRecord(value)) return value;
  const { shown, few, border, left } = show(Object.entries(value), ([, part]) => part);
  const named = shown.map(([name], at) => [name, few[at]] as const);
  const more = [`… ${left} values left out …`, "…"] as const;
  return Object.fromEntries(left > 0 ? named.toSpliced(border, 0, more) : named);
}

function ends<T>(parts: readonly T[], room: number) {
  const most = Math.min(MAX_MEMBERS, room);
  if (parts.length <= most) return { first: parts, last: [], left: 0 };
  const half = Math.floor(most / 2);
  return {
    first: parts.slice(0, half),
    last: parts.slice(parts.length - half),
    left: parts.length - 2 * half,
  };
}

/**
 * Each value gets an equal share, and what small ones do not need goes to the others: no value can push the
 * others out.
 */
function sharesOf(sizes: readonly number[], room: number): readonly number[] {
  const shares = sizes.map(() => 0);
  let [left, others] = [Math.max(0, room), sizes.length];
  for (const at of sizes.map((_, index) => index).toSorted((a, b) => Number(sizes[a]) - Number(sizes[b]))) {
    const share = Math.min(sizes[at] as number, Math.floor(left / others));
    shares[at] = share;
    left -= share;
    others -= 1;
  }
  return shares;
}

/** The number of values in a value, at all depths. */
function sizeOf(value: unknown, known: Map<object, number>): number {
  if (typeof value !== "object" || value === null) return 0;
  const before = known.get(value);
  if (before !== undefined) return before;
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  const size = parts.reduce<number>((sum, part) => sum + 1 + sizeOf(part, known), 0);
  known.set(value, size);
  return size;
}

/** The greatest length at which all texts together are not longer than `most`, roughly. */
function longestFor(lengths: readonly number[], most: number): number {
  let longest = most;
  const total = (): number => lengths.reduce((sum, length) => sum + Math.min(length, longest), 0);
  while (longest > SHORTEST_TEXT && total() > most) longest = Math.max(SHORTEST_TEXT, longest >> 1);
  return longest;
}

function lengthsIn(value: unknown): readonly number[] {
  if (typeof value === "string") return [value.length];
  if (Array.isArray(value)) return value.flatMap(lengthsIn);
  if (!isRecord(value)) return [4];
  return Object.entries(value).flatMap(([name, part]) => [name.length, ...lengthsIn(part)]);
}

/** What changed of a tool, for people: nothing in it can hide, neither from the eye nor from the terminal. */
import { type ToolChange, whatHappened } from "../catalog/pins/change.ts";
import { asRaw, type Raw } from "../kernel/raw.ts";
import { visible } from "../kernel/visible.ts";
import { elements, entries, isObject } from "../rpc/slice.ts";

const SHORT = 100;

/** The name as it is, made visible: on the user's own terminal nobody is spared an odd one. */
export function headline(change: ToolChange): string {
  return `${visible(change.tool)} ${whatHappened(change)}`;
}

/** Every place in its definition that differs, with what stood and what stands there. */
export function differences({ before, after }: ToolChange): readonly string[] {
  const [old, now] = [placesOf(before), placesOf(after)];
  const places = [...new Set([...old.keys(), ...now.keys()])].filter(
    (place) => old.get(place) !== now.get(place),
  );
  return places.flatMap((place) => {
    const [was, is] = [old.get(place), now.get(place)];
    const name = visible(place);
    if (was === undefined || is === undefined || !was.includes("\n") || !is.includes("\n"))
      return [...side("-", name, was), ...side("+", name, is)];
    const [less, more] = linesThatDiffer(was, is);
    return [...side("-", name, less), ...side("+", name, more)];
  });
}

/** One line on each side, for an overview. */
export function shortDifference({ before, after }: ToolChange): readonly string[] {
  const [was, is] = [before, after].map((definition) => placesOf(definition).get("description"));
  if (was === is) return [];
  const at = commonStart(was ?? "", is ?? "");
  return [...side("-", "description", excerpt(was, at)), ...side("+", "description", excerpt(is, at))];
}

/** What differs may stand far behind a start that does not. */
function excerpt(text: string | undefined, at: number): string | undefined {
  if (text === undefined || text.length <= SHORT) return text;
  const from = Math.max(0, Math.min(at - 20, text.length - SHORT));
  return `${from > 0 ? "…" : ""}${text.slice(from, from + SHORT)}${from + SHORT < text.length ? "…" : ""}`;
}

function commonStart(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

function side(sign: "-" | "+", place: string, text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const [first = "", ...more] = text.split("\n").map((line) => visible(line));
  return [`${sign} ${place}: ${first}`, ...more.map((line) => `${sign}   ${line}`)];
}

/** Without the lines that both begin and end with. */
function linesThatDiffer(before: string, after: string): readonly [string, string] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const middle = (lines: readonly string[]): string =>
    [...(start > 0 ? ["…"] : []), ...lines.slice(start, lines.length - end), ...(end > 0 ? ["…"] : [])].join(
      "\n",
    );
  return [middle(a), middle(b)];
}

/** By path, every value that holds no others; texts as they read, all else as it is written. */
function placesOf(definition: string | undefined): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const walk = (place: string, value: Raw): void => {
    const text = value.toString();
    if (isObject(value) && text !== "{}")
      for (const [key, inner] of entries(value)) walk(place ? `${place}.${key}` : key, inner);
    else if (text.startsWith("[") && text !== "[]")
      for (const [at, inner] of elements(value).entries()) walk(`${place}[${at}]`, inner);
    else places.set(place, text.startsWith('"') ? (JSON.parse(text) as string) : text);
  };
  if (definition) walk("", asRaw(Buffer.from(definition)));
  return places;
}

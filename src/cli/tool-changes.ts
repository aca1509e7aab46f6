/** Shows what changed in a tool definition. Invisible characters and terminal escapes are made visible. */
import { type ToolChange, whatHappened } from "../catalog/pins/change.ts";
import type { ItemSigns } from "../catalog/pins/sign-book.ts";
import { MEANINGS, type Sign } from "../catalog/signs/sign.ts";
import { asRaw, type Raw } from "../kernel/raw.ts";
import { visible } from "../kernel/visible.ts";
import { elements, entries, isObject } from "../rpc/slice.ts";

const EXCERPT_LENGTH = 100;

/** Shows the name in full, with invisible characters made visible. */
export function headline(change: ToolChange): string {
  const { of, tool } = change;
  const name = { tools: visible(tool), prompts: `prompt ${visible(tool)}`, instructions: "its instructions" }[
    of
  ];
  return `${name}${of === "instructions" ? ": this text" : ""} ${whatHappened(change)}`;
}

/** What has signs, each with its place. */
export function itemSignLines(item: ItemSigns): readonly string[] {
  return signLines(item.signs).map((line) => `${line.slice(0, 1)} ${shownKey(item)} ${line.slice(2)}`);
}

/** The name of a thing with its kind. */
export function shownKey({ of, name }: Pick<ItemSigns, "of" | "name">): string {
  const kind = of === "tools" ? "" : of === "instructions" ? "its " : `${of.slice(0, -1)} `;
  return `${kind}${visible(name)}`;
}

/** Each sign with its place in the text. The excerpt was made visible when it was found. */
export function signLines(signs: readonly Sign[]): readonly string[] {
  return signs.map(
    ({ sign, severity, path, excerpt }) =>
      `${severity === "hard" ? "!" : "?"} ${visible(path) || "whole"} ${MEANINGS[sign]}: ${excerpt}`,
  );
}

/** The old and new value of every path in the definition that differs. */
export function differences({ before, after }: ToolChange): readonly string[] {
  const [old, now] = [valuesByPath(before), valuesByPath(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])].filter(
    (path) => old.get(path) !== now.get(path),
  );
  return paths.flatMap((path) => {
    const [was, is] = [old.get(path), now.get(path)];
    const name = visible(path);
    if (was === undefined || is === undefined || !was.includes("\n") || !is.includes("\n"))
      return [...side("-", name, was), ...side("+", name, is)];
    const [removed, added] = differingLines(was, is);
    return [...side("-", name, removed), ...side("+", name, added)];
  });
}

/** The old and new description, one line each, for an overview. */
export function shortDifference({ before, after }: ToolChange): readonly string[] {
  const [was, is] = [before, after].map((definition) => valuesByPath(definition).get("description"));
  if (was === is) return [];
  const at = commonStart(was ?? "", is ?? "");
  return [...side("-", "description", excerpt(was, at)), ...side("+", "description", excerpt(is, at))];
}

/** The part of a text around the first difference, which may be far behind a common start. */
function excerpt(text: string | undefined, at: number): string | undefined {
  if (text === undefined || text.length <= EXCERPT_LENGTH) return text;
  const from = Math.max(0, Math.min(at - 20, text.length - EXCERPT_LENGTH));
  return `${from > 0 ? "…" : ""}${text.slice(from, from + EXCERPT_LENGTH)}${from + EXCERPT_LENGTH < text.length ? "…" : ""}`;
}

function commonStart(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

function side(sign: "-" | "+", path: string, text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const [first = "", ...more] = text.split("\n").map((line) => visible(line));
  return [`${sign} ${path}: ${first}`, ...more.map((line) => `${sign}   ${line}`)];
}

/** Both texts without their common first and last lines. */
function differingLines(before: string, after: string): readonly [string, string] {
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

/**
 * Every value in the definition that is not an object or array, by path. Strings are unquoted; other values
 * stay as written.
 */
function valuesByPath(definition: string | undefined): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const walk = (path: string, value: Raw): void => {
    const text = value.toString();
    if (isObject(value) && text !== "{}")
      for (const [key, inner] of entries(value)) walk(path ? `${path}.${key}` : key, inner);
    else if (text.startsWith("[") && text !== "[]")
      for (const [at, inner] of elements(value).entries()) walk(`${path}[${at}]`, inner);
    else values.set(path, text.startsWith('"') ? (JSON.parse(text) as string) : text);
  };
  if (definition) walk("", asRaw(Buffer.from(definition)));
  return values;
}

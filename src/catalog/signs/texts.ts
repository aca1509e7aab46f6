/** All texts of a definition with their paths: values and names of members. Reads to any depth. */
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import type { SignText } from "./sign.ts";

/** More characters of one item are not checked. */
export const MOST_CHARACTERS = 262_144;
/** Long paths of deep schemas are cut at the front. */
const LONGEST_PATH = 200;

/** Members that hold the names of things, and not texts about them. */
const NAMES: ReadonlySet<string> = new Set(["name", "uri", "uriTemplate"]);
/** Members whose keys are names that the server chose. */
const MAPS: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "definitions"]);

interface Open {
  readonly path: string;
  readonly key: string;
  readonly value: unknown;
}

/** `whole` is false if some text was left out. */
export function textsOf(definition: Raw): { readonly texts: readonly SignText[]; readonly whole: boolean } {
  const texts: SignText[] = [];
  const open: Open[] = [{ path: "", key: "", value: fromRaw(definition) }];
  let left = MOST_CHARACTERS;
  const add = (text: SignText): void => {
    left -= text.text.length + 1;
    if (left >= 0) texts.push(text);
  };
  for (let one = open.pop(); one !== undefined && left >= 0; one = open.pop()) {
    const { path, key, value } = one;
    if (typeof value === "string") {
      if (value !== "") add({ path, text: value, name: path === key && NAMES.has(key) });
      continue;
    }
    if (typeof value !== "object" || value === null) continue;
    const members = Array.isArray(value)
      ? value.map((inner, at) => [bounded(`${path}[${at}]`), "", inner] as const)
      : Object.entries(value).map(([name, inner]) => [joined(path, name), name, inner] as const);
    for (const [inner, name] of members)
      if (MAPS.has(key) && name !== "") add({ path: inner, text: name, name: true });
    // In reverse, because the last one that was added is read first.
    for (const [inner, name, child] of members.toReversed())
      open.push({ path: inner, key: name, value: child });
  }
  return { texts, whole: left >= 0 };
}

function joined(path: string, name: string): string {
  return bounded(path === "" ? name : `${path}.${name}`);
}

function bounded(path: string): string {
  return path.length <= LONGEST_PATH ? path : `…${path.slice(-LONGEST_PATH)}`;
}

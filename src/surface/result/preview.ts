/**
 * Writes a sketch as a preview within a limit: valid JSON of the same structure, with a remark wherever
 * something is left out.
 */
import type { Sketch } from "./sketch.ts";

interface Limits {
  readonly items: number;
  readonly keys: number;
  readonly chars: number;
  readonly depth: number;
}

/** From the largest preview to the smallest. The last one is always small enough. */
const LEVELS: readonly Limits[] = [
  { items: 20, keys: 40, chars: 2_400, depth: 7 },
  { items: 12, keys: 40, chars: 1_600, depth: 7 },
  { items: 8, keys: 30, chars: 1_000, depth: 6 },
  { items: 5, keys: 30, chars: 500, depth: 6 },
  { items: 3, keys: 24, chars: 250, depth: 5 },
  { items: 2, keys: 20, chars: 120, depth: 5 },
  { items: 2, keys: 16, chars: 60, depth: 4 },
  { items: 1, keys: 12, chars: 40, depth: 4 },
  { items: 1, keys: 8, chars: 30, depth: 3 },
  { items: 1, keys: 6, chars: 24, depth: 2 },
  { items: 1, keys: 4, chars: 16, depth: 1 },
  { items: 0, keys: 0, chars: 16, depth: 0 },
];
const LONGEST_NAMES = 120;

/** Returns the largest preview that `fits` accepts, or the smallest one if it accepts none. */
export function previewOf(sketch: Sketch, fits: (json: string) => boolean): string {
  let json = "";
  for (const limits of LEVELS) {
    json = write(sketch, limits, 0);
    if (fits(json)) break;
  }
  return json;
}

function write(sketch: Sketch, limits: Limits, depth: number): string {
  switch (sketch.kind) {
    case "plain":
      return sketch.json;
    case "string":
      return writeString(sketch, limits.chars);
    case "array":
      return depth >= limits.depth ? remark(outlineOf(sketch)) : writeArray(sketch, limits, depth);
    case "object":
      return depth >= limits.depth ? remark(outlineOf(sketch)) : writeObject(sketch, limits, depth);
  }
}

function writeString({ head, whole, bytes }: Sketch & { kind: "string" }, most: number): string {
  if (whole && head.length <= most) return JSON.stringify(head);
  const shown = head.slice(0, most).replace(/[\ud800-\udbff]$/, "");
  return remark(`${shown}… (${number(bytes)} bytes in total)`);
}

function writeArray(array: Sketch & { kind: "array" }, limits: Limits, depth: number): string {
  const shown = array.items.slice(0, limits.items);
  const parts = shown.map((item) => write(item, limits, depth + 1));
  const rest = array.count - shown.length;
  if (rest > 0)
    parts.push(remark(`… ${number(rest)} more ${shapeOf(array)}; ${number(array.bytes)} bytes in total`));
  return `[${parts.join(",")}]`;
}

function writeObject(object: Sketch & { kind: "object" }, limits: Limits, depth: number): string {
  const shown = object.members.slice(0, limits.keys);
  const parts = shown.map(([key, value]) => `${JSON.stringify(key)}:${write(value, limits, depth + 1)}`);
  if (object.count > shown.length) {
    const text = `${number(object.count - shown.length)} more keys: ${names(object, shown.length)}`;
    parts.push(`"…":${remark(text)}`);
  }
  return `{${parts.join(",")}}`;
}

/** Describes the items of a list; for objects with their keys and types. */
function shapeOf({ items, kinds }: Sketch & { kind: "array" }): string {
  const [kind] = kinds;
  if (kinds.length !== 1 || kind === undefined) return `items (${kinds.join(", ")})`;
  const object = kind === "object" ? items.find((item) => item.kind === "object") : undefined;
  if (!object) return `${kind}s`;
  const fields = object.members.map(
    ([key, value]) => `${key}: ${value.kind === "plain" ? typeof JSON.parse(value.json) : value.kind}`,
  );
  return `objects like {${clipped(fields)}}`;
}

function outlineOf(sketch: Sketch & { kind: "array" | "object" }): string {
  const size = `${number(sketch.bytes)} bytes`;
  if (sketch.kind === "array") return `[…] ${number(sketch.count)} ${shapeOf(sketch)}, ${size}`;
  return `{…} ${number(sketch.count)} keys (${names(sketch, 0)}), ${size}`;
}

function names({ members, more, count }: Sketch & { kind: "object" }, from: number): string {
  const known = [...members.map(([name]) => name), ...more];
  const listed = clipped(known.slice(from));
  return count > known.length && !listed.endsWith("…") ? `${listed}, …` : listed;
}

function clipped(words: readonly string[]): string {
  let text = "";
  for (const word of words) {
    const next = text === "" ? word : `${text}, ${word}`;
    if (next.length > LONGEST_NAMES) return text === "" ? "…" : `${text}, …`;
    text = next;
  }
  return text;
}

const remark = (text: string): string => JSON.stringify(text);

const number = (value: number): string => value.toLocaleString("en");

/**
 * Removes a key and its lines from a JSON text. The rest stays unchanged, whereas jsonc-parser would reformat
 * the neighbour and lose its comment.
 */

type Jsonc = typeof import("jsonc-parser");
type Range = readonly [from: number, to: number];

/** Matches the rest of the key's last line: a comma and a comment. */
const REST_OF_LINE = /[ \t]*,?[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)?[ \t]*\r?\n/y;
/** White space and comments. */
const NO_TOKEN = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;

/** Returns the text unchanged if there is no such key. */
export function removeKey(
  text: string,
  at: readonly string[],
  { findNodeAtLocation, parseTree }: Jsonc,
): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const key = root && findNodeAtLocation(root, [...at])?.parent;
  if (key?.type !== "property") return text;
  const all = key.parent?.children ?? [];
  const before = all[all.indexOf(key) - 1];
  const [from, to] = rangeOf(text, key.offset, key.offset + key.length);
  const own = commaAfter(text, key.offset + key.length);
  // The last key has no comma after it; then the comma of the key before it is removed.
  const comma = own ?? (before && commaAfter(text, before.offset + before.length));
  const apart: readonly Range[] =
    comma === undefined || (comma >= from && comma < to) ? [] : [[comma, comma + 1]];
  return [[from, to] as const, ...apart]
    .toSorted(([a], [b]) => b - a)
    .reduce((left, [start, end]) => left.slice(0, start) + left.slice(end), text);
}

/** The key's lines; if it shares a line with other text, the key and the white space before it. */
function rangeOf(text: string, from: number, to: number): Range {
  const start = text.lastIndexOf("\n", from - 1) + 1;
  REST_OF_LINE.lastIndex = to;
  if (text.slice(start, from).trim() === "" && REST_OF_LINE.test(text))
    return [start, REST_OF_LINE.lastIndex];
  return [from - (/[ \t]*$/.exec(text.slice(start, from))?.[0].length ?? 0), to];
}

function commaAfter(text: string, at: number): number | undefined {
  NO_TOKEN.lastIndex = at;
  NO_TOKEN.test(text);
  const next = Math.max(at, NO_TOKEN.lastIndex);
  return text[next] === "," ? next : undefined;
}

/** Takes a key out of a JSON text together with the lines that are its own. The library would lay its neighbour out anew and lose the comment beside it. */

type Jsonc = typeof import("jsonc-parser");

/** What may stand behind a key on its last line: a comma and a comment. */
const REST = /^[ \t]*(,?)[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)?[ \t]*\r?\n/;
/** A comma that comes on a later line. */
const LATE_COMMA = /^(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*,/;

/** Undefined where there is no such key, or it shares its lines with others. */
export function cut(
  text: string,
  at: readonly string[],
  { findNodeAtLocation, parseTree }: Jsonc,
): string | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const key = root && findNodeAtLocation(root, [...at])?.parent;
  if (key?.type !== "property") return undefined;
  const [start, end] = [text.lastIndexOf("\n", key.offset) + 1, key.offset + key.length];
  const rest = REST.exec(text.slice(end));
  if (!rest || text.slice(start, key.offset).trim() !== "") return undefined;

  const all = key.parent?.children ?? [];
  const before = all[all.indexOf(key) - 1];
  const tail = text.slice(end + rest[0].length);
  if (rest[1] !== "") return text.slice(0, start) + tail;
  if (LATE_COMMA.test(tail)) return undefined;
  if (!before) return text.slice(0, start) + tail;
  // It was the last, so its neighbour needs no comma any more.
  const behind = before.offset + before.length;
  const comma = /^\s*,/.exec(text.slice(behind, start))?.[0];
  if (comma === undefined) return undefined;
  return text.slice(0, behind) + comma.slice(0, -1) + text.slice(behind + comma.length, start) + tail;
}

/** Puts a value into a JSON text. All else stays as it is written: the library would lay every line that it touches out anew, and of a file on one line that is all of it. */
import type { FormattingOptions, Node } from "jsonc-parser";

type Jsonc = typeof import("jsonc-parser");

interface Placed {
  readonly at: readonly string[];
  readonly value: unknown;
}

export function setValue(text: string, { at, value }: Placed, jsonc: Jsonc): string {
  const root = jsonc.parseTree(text, [], { allowTrailingComma: true });
  const placed = root && placeIn(text, root, reachable(root, { at, value }, jsonc), jsonc);
  if (placed !== undefined) return placed;
  const formattingOptions = layoutOf(text);
  return jsonc.applyEdits(text, jsonc.modify(text, [...at], value, { formattingOptions }));
}

/** The first key on the way that is missing, with all that belongs below it. */
function reachable(root: Node, { at, value }: Placed, jsonc: Jsonc): Placed {
  if (at.length < 2 || jsonc.findNodeAtLocation(root, at.slice(0, -1))) return { at, value };
  return reachable(root, { at: at.slice(0, -1), value: { [at.at(-1) ?? ""]: value } }, jsonc);
}

/** Undefined where the way of the library does no harm. */
function placeIn(
  text: string,
  root: Node,
  { at, value }: Placed,
  { findNodeAtLocation }: Jsonc,
): string | undefined {
  const parent = findNodeAtLocation(root, at.slice(0, -1));
  if (parent?.type !== "object") return undefined;
  const there = findNodeAtLocation(root, [...at]);
  if (there) return spliced(text, there, written(text, value, there.offset, parent));
  const whole = { [at.at(-1) ?? ""]: value };
  const last = parent.children?.at(-1);
  if (last) return append(text, whole, parent, last);
  // Braces with a comment between them are left to the library.
  return /^\{\s*\}$/.test(textOf(text, parent))
    ? spliced(text, parent, written(text, whole, parent.offset, parent))
    : undefined;
}

/** A new key behind the last one, where each has its own line. */
function append(text: string, whole: object, parent: Node, last: Node): string | undefined {
  const start = text.lastIndexOf("\n", last.offset - 1) + 1;
  const indent = text.slice(start, last.offset);
  if (start === 0 || indent.trim() !== "") return appendInline(text, whole, parent, last);

  const { eol = "\n", insertSpaces, tabSize } = layoutOf(text);
  const lines = JSON.stringify(whole, undefined, insertSpaces ? tabSize : "\t").split("\n");
  const unit = insertSpaces ? (tabSize ?? 0) : 1;
  const body = lines.slice(1, -1).map((line) => indent + line.slice(unit));
  const end = last.offset + last.length;
  const comma = /^\s*,/.exec(text.slice(end))?.[0] ?? "";
  const comment =
    /^[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)?/.exec(text.slice(end + comma.length))?.[0] ?? "";
  const tail = text.slice(end + comma.length + comment.length);
  return [text.slice(0, end), comma || ",", comment.trimEnd(), eol, body.join(eol), comma && ",", tail].join(
    "",
  );
}

/** The same where all stand on one line. */
function appendInline(text: string, whole: object, parent: Node, last: Node): string | undefined {
  const line = textOf(text, parent);
  if (/[\r\n]/.test(line)) return undefined;
  const gap = gapIn(line);
  const body = inline(whole, gap).slice(1, -1).trim();
  const end = last.offset + last.length;
  const comma = /^\s*,/.exec(text.slice(end))?.[0] ?? "";
  const tail = text.slice(end + comma.length);
  return [text.slice(0, end), comma || ",", gap, body, comma && ",", tail].join("");
}

/** On one line where the file is, else on several, set in as the line it begins on. */
function written(text: string, value: unknown, at: number, parent: Node): string {
  if (!/[\r\n]/.test(text.trim()) && text.trim() !== "{}") return inline(value, gapIn(textOf(text, parent)));
  const { eol = "\n", insertSpaces, tabSize } = layoutOf(text);
  const indent = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at - 1) + 1, at))?.[0] ?? "";
  return JSON.stringify(value, undefined, insertSpaces ? tabSize : "\t").replaceAll("\n", eol + indent);
}

function inline(value: unknown, gap: string): string {
  return gap ? JSON.stringify(value, undefined, 1).replaceAll(/\n\s*/g, gap) : JSON.stringify(value);
}

function gapIn(line: string): string {
  return /[":,] /.test(line) ? " " : "";
}

function spliced(text: string, { offset, length }: Node, instead: string): string {
  return text.slice(0, offset) + instead + text.slice(offset + length);
}

function textOf(text: string, { offset, length }: Node): string {
  return text.slice(offset, offset + length);
}

/** As the file has it. */
function layoutOf(text: string): FormattingOptions {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol,
  };
}

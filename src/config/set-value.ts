/**
 * Sets a value in a JSON text. The rest stays unchanged, whereas jsonc-parser reformats every line it
 * touches, which is the whole file if it has one line.
 */
import type { FormattingOptions, Node } from "jsonc-parser";

type Jsonc = typeof import("jsonc-parser");

interface Assignment {
  readonly at: readonly string[];
  readonly value: unknown;
}

export function setValue(text: string, { at, value }: Assignment, jsonc: Jsonc): string {
  const root = jsonc.parseTree(text, [], { allowTrailingComma: true });
  const edited = root && insertOrReplace(text, root, fromFirstMissing(root, { at, value }, jsonc), jsonc);
  if (edited !== undefined) return edited;
  const formattingOptions = layoutOf(text);
  return jsonc.applyEdits(text, jsonc.modify(text, [...at], value, { formattingOptions }));
}

/** Sets the first missing key of the path instead, with everything below it as its value. */
function fromFirstMissing(root: Node, { at, value }: Assignment, jsonc: Jsonc): Assignment {
  if (at.length < 2 || jsonc.findNodeAtLocation(root, at.slice(0, -1))) return { at, value };
  return fromFirstMissing(root, { at: at.slice(0, -1), value: { [at.at(-1) ?? ""]: value } }, jsonc);
}

/** Undefined if jsonc-parser should make the edit. */
function insertOrReplace(
  text: string,
  root: Node,
  { at, value }: Assignment,
  { findNodeAtLocation }: Jsonc,
): string | undefined {
  const parent = findNodeAtLocation(root, at.slice(0, -1));
  if (parent?.type !== "object") return undefined;
  const existing = findNodeAtLocation(root, [...at]);
  if (existing) return replaceNode(text, existing, written(text, value, existing.offset, parent));
  const member = { [at.at(-1) ?? ""]: value };
  const last = parent.children?.at(-1);
  if (last) return append(text, member, parent, last);
  // An object that contains only a comment is left to jsonc-parser.
  return /^\{\s*\}$/.test(textOf(text, parent))
    ? replaceNode(text, parent, written(text, member, parent.offset, parent))
    : undefined;
}

/** Adds a key after the last one, if each key has its own line. */
function append(text: string, member: object, parent: Node, last: Node): string | undefined {
  const start = text.lastIndexOf("\n", last.offset - 1) + 1;
  const indent = text.slice(start, last.offset);
  if (start === 0 || indent.trim() !== "") return appendInline(text, member, parent, last);

  const { eol = "\n", insertSpaces, tabSize } = layoutOf(text);
  const lines = JSON.stringify(member, undefined, insertSpaces ? tabSize : "\t").split("\n");
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

/** Adds a key after the last one, if the object is on one line. */
function appendInline(text: string, member: object, parent: Node, last: Node): string | undefined {
  const line = textOf(text, parent);
  if (/[\r\n]/.test(line)) return undefined;
  const gap = gapIn(line);
  const body = inline(member, gap).slice(1, -1).trim();
  const end = last.offset + last.length;
  const comma = /^\s*,/.exec(text.slice(end))?.[0] ?? "";
  const tail = text.slice(end + comma.length);
  return [text.slice(0, end), comma || ",", gap, body, comma && ",", tail].join("");
}

/**
 * The value as JSON: on one line if the file has one line, else on several, with the indent of its first
 * line.
 */
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

function replaceNode(text: string, { offset, length }: Node, instead: string): string {
  return text.slice(0, offset) + instead + text.slice(offset + length);
}

function textOf(text: string, { offset, length }: Node): string {
  return text.slice(offset, offset + length);
}

/** Indent and line ends of the file. */
function layoutOf(text: string): FormattingOptions {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol,
  };
}

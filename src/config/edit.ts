/** Edits a JSON file of the user's in place: comments, order and layout stay, a copy is kept. Refuses a file that it does not understand. */
import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { FormattingOptions, Node } from "jsonc-parser";

import { backup } from "../home/backup.ts";
import { writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";
import { cut } from "./cut.ts";
import { isKeys, type Keys, kindOf } from "./field.ts";
import { ConfigError, readConfigText } from "./load.ts";
import { parseText } from "./parse.ts";

type Jsonc = typeof import("jsonc-parser");

export interface Edit {
  readonly at: readonly string[];
  /** Undefined removes what is there. */
  readonly value: unknown;
}

export interface EditOptions {
  /** The folder of ours that holds copies and locks. */
  readonly home: string;
  readonly now: Date;
}

export interface Edited {
  readonly changed: boolean;
  /** Where the file as it was before can be found; undefined if there was none. */
  readonly copy: string | undefined;
}

/** `plan` sees the file as it is at that moment and says what to change; nobody of ours edits it meanwhile. Throws ConfigError. */
export async function editJson(
  path: string,
  plan: (file: Keys) => readonly Edit[],
  { home, now }: EditOptions,
): Promise<Edited> {
  return await withLock(await lockFor(path, home), async () => {
    const before = (await readConfigText(path))?.replace(/^\uFEFF/, "");
    const after = await editText(path, before ?? "{}\n", plan);
    if (after === before) return { changed: false, copy: undefined };
    const copy = await backup(path, home, now);
    await writeAtomic(path, after, { mode: "keep" });
    return { changed: true, copy };
  });
}

/** The same for a text alone; `path` is for messages. */
export async function editText(
  path: string,
  text: string,
  plan: (file: Keys) => readonly Edit[],
): Promise<string> {
  const after = await apply(text, plan(await understand(path, text)));
  if (after !== text) await understand(path, after);
  return after;
}

/** Among our own files, not in the user's folder. */
async function lockFor(path: string, home: string): Promise<string> {
  const file = await realpath(path).catch(() => resolve(path));
  return join(home, "locks", createHash("sha256").update(file).digest("hex").slice(0, 16));
}

/** Throws ConfigError for what is no JSON object. */
export async function understand(path: string, text: string): Promise<Keys> {
  const parsed = await parseText(text);
  if ("fault" in parsed) throw new ConfigError(resolve(path), `${parsed.fault}; mend it first`, parsed.at);
  if (isKeys(parsed.value)) return parsed.value;
  throw new ConfigError(resolve(path), `the file holds ${kindOf(parsed.value)}, not an object`);
}

async function apply(text: string, edits: readonly Edit[]): Promise<string> {
  const jsonc = await import("jsonc-parser");
  return edits.reduce((current, edit) => {
    if (edit.value === undefined) return cut(current, edit.at, jsonc);
    const appended = append(current, edit, jsonc);
    if (appended !== undefined) return appended;
    const formattingOptions = layoutOf(current);
    return jsonc.applyEdits(current, jsonc.modify(current, [...edit.at], edit.value, { formattingOptions }));
  }, text);
}

/**
 * A new key behind the last one, where each has its own line. The library would lay the neighbour out anew and move
 * the comment beside it; undefined where its way does no harm.
 */
function append(
  text: string,
  { at, value }: Edit,
  { findNodeAtLocation, parseTree }: Jsonc,
): string | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (!root || findNodeAtLocation(root, [...at])) return undefined;
  const parent = findNodeAtLocation(root, at.slice(0, -1));
  const last = parent?.type === "object" ? parent.children?.at(-1) : undefined;
  if (!parent || !last) return undefined;
  const indent = /(?:^|\n)([ \t]*)$/.exec(text.slice(0, last.offset))?.[1];
  if (indent === undefined) return appendInline(text, { at, value }, parent, last);

  const { eol = "\n", insertSpaces, tabSize } = layoutOf(text);
  const lines = JSON.stringify({ [at.at(-1) ?? ""]: value }, undefined, insertSpaces ? tabSize : "\t").split(
    "\n",
  );
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
function appendInline(text: string, { at, value }: Edit, parent: Node, last: Node): string | undefined {
  const line = text.slice(parent.offset, parent.offset + parent.length);
  if (/[\r\n]/.test(line)) return undefined;
  const gap = /[":,] /.test(line) ? " " : "";
  const whole = { [at.at(-1) ?? ""]: value };
  const written = gap ? JSON.stringify(whole, undefined, 1).replaceAll(/\n\s*/g, gap) : JSON.stringify(whole);
  const body = written.slice(1, -1).trim();
  const end = last.offset + last.length;
  const comma = /^\s*,/.exec(text.slice(end))?.[0] ?? "";
  const tail = text.slice(end + comma.length);
  return [text.slice(0, end), comma || ",", gap, body, comma && ",", tail].join("");
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

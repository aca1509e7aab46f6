/** Edits a JSON file of the user's in place: comments, order and layout stay, a copy is kept. Refuses a file that it does not understand. */
import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { backup } from "../home/backup.ts";
import { writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";
import { ConfigError } from "./config-error.ts";
import { isKeys, type Keys, kindOf } from "./field.ts";
import { readConfigText } from "./load.ts";
import { parseText } from "./parse.ts";
import { removeKey } from "./remove-key.ts";
import { setValue } from "./set-value.ts";

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

export interface EditOutcome {
  readonly changed: boolean;
  /** Where the file as it was before can be found; undefined if there was none. */
  readonly copy: string | undefined;
}

const MOST_ATTEMPTS = 5;

/** `plan` sees the file as it is at that moment and says what to change; nobody of ours edits it meanwhile. Throws ConfigError. */
export async function editJson(
  path: string,
  plan: (file: Keys) => readonly Edit[],
  { home, now }: EditOptions,
): Promise<EditOutcome> {
  return await withLock(await lockFor(path, home), async () => {
    for (let attempt = 1; ; attempt++) {
      const read = await readConfigText(path);
      const before = read?.replace(/^\uFEFF/, "");
      const after = await editText(path, before ?? "{}\n", plan);
      if (after === before) return { changed: false, copy: undefined };
      const copy = await backup(path, home, now);
      // The user's editor knows no lock of ours.
      if (attempt < MOST_ATTEMPTS && (await readConfigText(path)) !== read) continue;
      await writeAtomic(path, after, { mode: "keep" });
      return { changed: true, copy };
    }
  });
}

/** The same for a text alone; `path` is for messages. */
export async function editText(
  path: string,
  text: string,
  plan: (file: Keys) => readonly Edit[],
): Promise<string> {
  const before = await understand(path, text);
  const edits = plan(before);
  const after = await apply(text, edits);
  const expected = edits.reduce((file, { at, value }) => withValue(file, at, asJson(value)), before);
  // Of two equal keys the last counts, and the edit went to another.
  if (after === text || isDeepStrictEqual(await understand(path, after), expected)) return after;
  throw new ConfigError(
    resolve(path),
    "it has the same key twice, so it cannot be edited safely; fix it first",
  );
}

/** Among our own files, not in the user's folder. */
async function lockFor(path: string, home: string): Promise<string> {
  const file = await realpath(path).catch(() => resolve(path));
  return join(home, "locks", createHash("sha256").update(file).digest("hex").slice(0, 16));
}

/** Throws ConfigError for what is no JSON object. */
export async function understand(path: string, text: string): Promise<Keys> {
  const parsed = await parseText(text);
  if ("fault" in parsed) throw new ConfigError(resolve(path), `${parsed.fault}; fix it first`, parsed.at);
  if (isKeys(parsed.value)) return parsed.value;
  throw new ConfigError(resolve(path), `the file contains ${kindOf(parsed.value)}, not an object`);
}

async function apply(text: string, edits: readonly Edit[]): Promise<string> {
  const jsonc = await import("jsonc-parser");
  return edits.reduce(
    (current, edit) =>
      edit.value === undefined ? removeKey(current, edit.at, jsonc) : setValue(current, edit, jsonc),
    text,
  );
}

/** Without what a file cannot hold. */
function asJson(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}

/** The same file with another value in one place; undefined takes it out. */
export function withValue(file: Keys, [key, ...rest]: readonly string[], value: unknown): Keys {
  if (key === undefined) return file;
  const inner = Object.hasOwn(file, key) ? file[key] : undefined;
  const next = rest.length > 0 ? withValue(isKeys(inner) ? inner : {}, rest, value) : value;
  const others = Object.entries(file).filter(([name]) => name !== key);
  return Object.fromEntries(next === undefined ? others : [...others, [key, next]]);
}

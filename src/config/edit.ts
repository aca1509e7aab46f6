/**
 * Edits a user's JSON file in place: comments, order and formatting stay, and a backup is made. Refuses an
 * invalid file.
 */
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
  /** Undefined removes the key. */
  readonly value: unknown;
}

export interface EditOptions {
  /** METAMCP_HOME, where backups and locks are stored. */
  readonly home: string;
  readonly now: Date;
}

export interface EditOutcome {
  readonly changed: boolean;
  /** The path of the backup; undefined if there was no file. */
  readonly copy: string | undefined;
}

const MAX_ATTEMPTS = 5;

/**
 * `plan` gets the current content and returns the changes. A lock keeps other MetaMCP processes from editing
 * the file meanwhile. Throws ConfigError.
 */
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
      // The user's editor does not use the lock, so the file may have changed.
      if (attempt < MAX_ATTEMPTS && (await readConfigText(path)) !== read) continue;
      await writeAtomic(path, after, { mode: "keep" });
      return { changed: true, copy };
    }
  });
}

/** Edits a text; `path` is only for messages. */
export async function editText(
  path: string,
  text: string,
  plan: (file: Keys) => readonly Edit[],
): Promise<string> {
  const before = await parseObject(path, text);
  const edits = plan(before);
  const after = await apply(text, edits);
  const expected = edits.reduce((file, { at, value }) => withValue(file, at, asJson(value)), before);
  // With a duplicate key the edit may have changed the first one, but the last one counts.
  if (after === text || isDeepStrictEqual(await parseObject(path, after), expected)) return after;
  throw new ConfigError(
    resolve(path),
    "it has the same key twice, so it cannot be edited safely; fix it first",
  );
}

/** The lock is in METAMCP_HOME, not in the user's folder. */
async function lockFor(path: string, home: string): Promise<string> {
  const file = await realpath(path).catch(() => resolve(path));
  return join(home, "locks", createHash("sha256").update(file).digest("hex").slice(0, 16));
}

/** Throws ConfigError if the text is not a JSON object. */
export async function parseObject(path: string, text: string): Promise<Keys> {
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

/** Drops everything that JSON cannot contain. */
function asJson(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}

/** A copy with one value replaced; undefined removes it. */
export function withValue(file: Keys, [key, ...rest]: readonly string[], value: unknown): Keys {
  if (key === undefined) return file;
  const inner = Object.hasOwn(file, key) ? file[key] : undefined;
  const next = rest.length > 0 ? withValue(isKeys(inner) ? inner : {}, rest, value) : value;
  const others = Object.entries(file).filter(([name]) => name !== key);
  return Object.fromEntries(next === undefined ? others : [...others, [key, next]]);
}

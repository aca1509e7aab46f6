/** Where the secret key comes from: `METAMCP_SECRET_KEY`, else a file of ours that is made for an empty store only. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { readIfThere, writeAtomic } from "../home/file.ts";
import type { Env } from "../home/home.ts";
import type { Log } from "../kernel/log.ts";
import { StoreError } from "./error.ts";
import { KEY_RULE, type Key, newKeyText, readKey } from "./seal.ts";

const NAME = "METAMCP_SECRET_KEY";
const OLD_NAME = "METAMCP_SECRET_KEY_OLD";

export interface SecretKeys {
  readonly current: Key;
  readonly old: Key | undefined;
}

export interface KeySource {
  readonly env: Env;
  readonly home: string;
  /** A file on this machine can be lost with it, or be another on the next: several gateways need the variable. */
  readonly fileAllowed: boolean;
  readonly log: Log;
}

/** What is set is checked before any store is touched. */
export function keysFromEnv({ env, fileAllowed }: KeySource): {
  readonly current: Key | undefined;
  readonly old: Key | undefined;
} {
  const given = env[NAME];
  const old = env[OLD_NAME];
  if (!given && !fileAllowed)
    throw new StoreError("key_missing", `a Postgres store requires ${NAME}: ${KEY_RULE}`);
  return {
    current: given ? readKey(given, NAME) : undefined,
    old: old ? readKey(old, OLD_NAME) : undefined,
  };
}

/** The keys for a store; `empty` allows to make one. */
export async function secretKeys(source: KeySource, empty: boolean): Promise<SecretKeys> {
  const { current, old } = keysFromEnv(source);
  return { current: current ?? (await keyFile(source, empty)), old };
}

async function keyFile({ home, log }: KeySource, empty: boolean): Promise<Key> {
  const path = join(home, "gateway", "secret.key");
  const text = await readIfThere(path);
  if (text !== undefined) {
    if (((await stat(path)).mode & 0o077) !== 0 && process.platform !== "win32")
      log.warn("other users may read the secret key", { path, fix: `chmod 600 ${path}` });
    return readKey(text, path);
  }
  if (!empty)
    throw new StoreError(
      "key_missing",
      `the secret key of this store is missing: restore ${path}, or set ${NAME} to its content`,
    );
  const made = newKeyText();
  await writeAtomic(path, `${made}\n`);
  return readKey(made, path);
}

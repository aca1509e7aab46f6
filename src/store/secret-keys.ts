/**
 * Reads the secret key: from `METAMCP_SECRET_KEY`, otherwise from a key file, which is created only for an
 * empty store.
 */
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
  /** False for Postgres: a key file would differ between machines, so several gateways need the variable. */
  readonly fileAllowed: boolean;
  readonly log: Log;
}

/** Checks the variables, before any store is opened. */
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

/** The keys for a store. If `empty`, a missing key file is created. */
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
  const created = newKeyText();
  await writeAtomic(path, `${created}\n`);
  return readKey(created, path);
}

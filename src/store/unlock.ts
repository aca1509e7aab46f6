/**
 * The secret of the store itself: made once, kept sealed. It shows whether a key is the right one, and what is derived
 * from it stays the same when the key changes.
 */
import { randomBytes } from "node:crypto";
import type { Database, Query } from "./database.ts";
import { StoreError } from "./error.ts";
import { type Key, keyIdOf, open, resealJson, seal, stretch } from "./seal.ts";
import type { SecretKeys } from "./secret-keys.ts";
import type { Sealer } from "./store.ts";

const ROOT = "root-secret";
const DERIVED = 32;
const SELECT = "SELECT value FROM metamcp_meta WHERE name = ?";

/** The sealed secret of a store that has one. Its table must be there. */
export async function sealedRoot(query: Query): Promise<string | undefined> {
  return await rootBy(query, SELECT);
}

/** The same in a transaction on Postgres, where it stays as it is until that ends. */
export async function lockedRoot(query: Query, by: "SHARE" | "UPDATE"): Promise<string | undefined> {
  return await rootBy(query, `${SELECT} FOR ${by}`);
}

async function rootBy(query: Query, sql: string): Promise<string | undefined> {
  const { rows } = await query(sql, [ROOT]);
  return rows[0] && String(rows[0]["value"]);
}

/** The key that sealed it. Rejects where it is neither of ours. */
export function keyFor(root: string, { current, old }: SecretKeys): Key {
  const key = [current, old].find((candidate) => candidate?.id === keyIdOf(root));
  if (!key)
    throw new StoreError(
      "key_wrong",
      "this store was encrypted with another secret key: set METAMCP_SECRET_KEY to that key, or set METAMCP_SECRET_KEY_OLD to it to switch to the new one",
    );
  open(key, root);
  return key;
}

/** Makes the secret where there is none, and seals everything anew that the old key sealed. */
export async function unlock(database: Database, keys: SecretKeys): Promise<Sealer> {
  const root = await database.transaction(
    async (query) => {
      const fresh = seal(keys.current, randomBytes(DERIVED).toString("base64url"));
      // Writers are waited for, so that what they sealed is sealed anew as well.
      const there = await (database.dialect === "postgres" ? lockedRoot(query, "UPDATE") : sealedRoot(query));
      if (there === undefined) {
        await query("INSERT INTO metamcp_meta (name, value) VALUES (?, ?)", [ROOT, fresh]);
        return open(keys.current, fresh);
      }
      const key = keyFor(there, keys);
      if (key !== keys.current) await resealAll(query, key, keys.current);
      return open(key, there);
    },
    { lock: "unlock" },
  );
  const secret = Buffer.from(root, "base64url");
  return {
    keyId: keys.current.id,
    seal: (text) => seal(keys.current, text),
    open: (sealed) => open(keys.current, sealed),
    derive: (purpose) => stretch(secret, purpose, DERIVED),
  };
}

/** Old versions of objects, too: a rollback brings their secrets back. */
async function resealAll(query: Query, from: Key, to: Key): Promise<void> {
  const like = `%sealed:1:${from.id}:%`;
  const { rows: objects } = await query("SELECT uuid, since, spec FROM metamcp_objects WHERE spec LIKE ?", [
    like,
  ]);
  for (const { uuid = null, since = null, spec } of objects)
    await query("UPDATE metamcp_objects SET spec = ? WHERE uuid = ? AND since = ?", [
      resealJson(String(spec), from, to),
      uuid,
      since,
    ]);
  const { rows: records } = await query("SELECT kind, id, value FROM metamcp_records WHERE value LIKE ?", [
    like,
  ]);
  for (const { kind = null, id = null, value } of records)
    await query("UPDATE metamcp_records SET value = ? WHERE kind = ? AND id = ?", [
      resealJson(String(value), from, to),
      kind,
      id,
    ]);
  const root = (await sealedRoot(query)) as string;
  await query("UPDATE metamcp_meta SET value = ? WHERE name = ?", [seal(to, open(from, root)), ROOT]);
}

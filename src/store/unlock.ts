/**
 * The root secret of a store: created once and stored sealed. It shows whether a key is correct. Keys are
 * derived from it, so they stay the same when the secret key changes.
 */
import { randomBytes } from "node:crypto";
import { AUDIT_KEY, markEnd } from "./audit-end.ts";
import type { Database, Query } from "./database.ts";
import { StoreError } from "./error.ts";
import { deriveBytes, type Key, keyIdOf, open, resealJson, seal } from "./seal.ts";
import type { SecretKeys } from "./secret-keys.ts";
import type { Sealer } from "./store.ts";

const ROOT = "root-secret";
const DERIVED = 32;
/**
 * Appended to the sealed secret when the audit log gets its end mark. With it, `verify` treats a missing mark
 * as removed. Nobody without the key can remove it, except by restoring an older copy of the sealed text.
 */
const MARKED = " audit-end";
const SELECT = "SELECT value FROM metamcp_meta WHERE name = ?";
const PUT =
  "INSERT INTO metamcp_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/** The sealed root secret. Undefined if the store has none. The table must exist. */
export async function sealedRoot(query: Query): Promise<string | undefined> {
  return await rootBy(query, SELECT);
}

/** The same in a transaction on Postgres, with a row lock until the transaction ends. */
export async function lockedRoot(query: Query, by: "SHARE" | "UPDATE"): Promise<string | undefined> {
  return await rootBy(query, `${SELECT} FOR ${by}`);
}

async function rootBy(query: Query, sql: string): Promise<string | undefined> {
  const { rows } = await query(sql, [ROOT]);
  return rows[0] && String(rows[0]["value"]);
}

/** Returns the key that sealed the root secret. Throws if it is neither of the two. */
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

/** Creates the root secret if there is none, and reseals everything that the old key sealed. */
export async function unlock(database: Database, keys: SecretKeys): Promise<Sealer> {
  const secret = await database.transaction(
    async (query) => {
      // The lock waits for writers, so that what they sealed is resealed too.
      const stored = await (database.dialect === "postgres"
        ? lockedRoot(query, "UPDATE")
        : sealedRoot(query));
      const key = stored === undefined ? keys.current : keyFor(stored, keys);
      if (key !== keys.current) await resealAll(query, key, keys.current);
      const text = stored === undefined ? randomBytes(DERIVED).toString("base64url") : open(key, stored);
      if (text.endsWith(MARKED)) return secretIn(text);
      await query(PUT, [ROOT, seal(keys.current, text + MARKED)]);
      await markEnd(query, deriveBytes(secretIn(text), AUDIT_KEY, DERIVED));
      return secretIn(text);
    },
    { lock: "unlock" },
  );
  return {
    keyId: keys.current.id,
    seal: (text) => seal(keys.current, text),
    open: (sealed) => open(keys.current, sealed),
    derive: (purpose) => deriveBytes(secret, purpose, DERIVED),
  };
}

function secretIn(text: string): Buffer {
  return Buffer.from(text.replace(MARKED, ""), "base64url");
}

/** Includes old versions of objects, because a rollback restores their secrets. */
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

/**
 * Gives an account a password whose hash takes next to no time. The parameters of a hash are stored with it.
 */
import { randomBytes, scryptSync } from "node:crypto";
import { ACCOUNT } from "../../src/access/account.ts";
import type { Accounts } from "../../src/access/accounts.ts";
import type { Store, StoredRecord } from "../../src/store/store.ts";

export async function useCheapPassword(
  store: Store,
  accounts: Accounts,
  { uuid, password: text }: { readonly uuid: string; readonly password: string },
): Promise<void> {
  const record = await store.records.get(ACCOUNT, uuid);
  const [salt, N, r, p] = [randomBytes(16), 16, 1, 1];
  const hash = scryptSync(text, salt, 32, { N, r, p });
  const password = ["scrypt", N, r, p, salt.toString("base64url"), hash.toString("base64url")].join(":");
  await store.records.put({ ...(record as StoredRecord), value: { ...(record?.value as object), password } });
  await accounts.load();
}

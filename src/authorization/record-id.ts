/**
 * Record ids of the authorization server. The original ids are tokens, codes and cookies, so only their keyed
 * hashes are stored.
 */
import { keyedHash } from "../kernel/keyed-hash.ts";
import type { Sealer } from "../store/store.ts";

export type RecordId = (model: string, id: string) => string;

export function recordIds(sealer: Pick<Sealer, "derive">): RecordId {
  const pepper = sealer.derive("oauth-records");
  return (model, id) => keyedHash(pepper, `${model} ${id}`);
}

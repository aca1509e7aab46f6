/** The API keys for the admin API. A change is in effect when its promise resolves. */
import { Sequencer } from "../kernel/sequencer.ts";
import type { Store } from "../store/store.ts";
import type { ApiKey, StoredKey } from "./api-key.ts";
import {
  changeApiKey,
  createApiKey,
  type ForeignKey,
  type KeyChange,
  keyRecords,
  listApiKeys,
  type NewApiKey,
  revokeApiKey,
  rotateApiKey,
  takeOverApiKeys,
} from "./api-keys.ts";
import { AccessError } from "./error.ts";

/**
 * Keys without owner, which only administrators create, do not count. Expired keys do, as they stay in the
 * list.
 */
export const MAX_KEYS_OF_ACCOUNT = 50;

export interface KeyControl {
  /** The time by which keys end, in milliseconds since 1970. */
  now(): number;
  list(): Promise<readonly ApiKey[]>;
  /** Rejects with "too_many" if the owner has the most keys that an account can have. */
  create(key: NewApiKey): Promise<ApiKey & { readonly key: string }>;
  takeOver(keys: readonly ForeignKey[]): Promise<void>;
  /** Undefined for an unknown id. */
  change(id: string, change: KeyChange): Promise<ApiKey | undefined>;
  /** Undefined for an unknown id. `until`: how long the former text is valid, in milliseconds since 1970. */
  rotate(id: string, until: number): Promise<(ApiKey & { readonly key: string }) | undefined>;
  /** False for an unknown id. */
  revoke(id: string): Promise<boolean>;
}

/**
 * `changed` runs after each change and before its promise resolves, e.g. to load the keys into memory again.
 */
export function keyControl(
  store: Pick<Store, "records" | "sealer" | "now">,
  changed: () => Promise<void> | void = () => {},
): KeyControl {
  const afterwards = async <T>(change: Promise<T>): Promise<T> => {
    const result = await change;
    await changed();
    return result;
  };
  const creations = new Sequencer();
  /** One at a time, so that concurrent requests cannot pass the limit together. */
  const create = (key: NewApiKey) =>
    creations.run(async () => {
      if (key.owner !== undefined) await refuseTooMany(store, key.owner);
      return await createApiKey(store, key);
    });
  return {
    now: () => store.now(),
    list: () => listApiKeys(store),
    create: (key) => afterwards(create(key)),
    takeOver: (keys) => afterwards(takeOverApiKeys(store, keys)),
    change: (id, change) => afterwards(changeApiKey(store, id, change)),
    rotate: (id, until) => afterwards(rotateApiKey(store, id, until)),
    revoke: (id) => afterwards(revokeApiKey(store, id)),
  };
}

async function refuseTooMany(store: Pick<Store, "records">, owner: string): Promise<void> {
  const owned = (await keyRecords(store)).filter(({ value }) => (value as StoredKey).owner === owner);
  if (owned.length >= MAX_KEYS_OF_ACCOUNT)
    throw new AccessError(
      "too_many",
      `an account can have at most ${MAX_KEYS_OF_ACCOUNT} keys, expired ones included: revoke one first`,
    );
}

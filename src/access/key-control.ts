/** The API keys for the admin API. A change is in effect when its promise resolves. */
import type { Store } from "../store/store.ts";
import type { ApiKey } from "./api-key.ts";
import {
  createApiKey,
  type ForeignKey,
  listApiKeys,
  type NewApiKey,
  renameApiKey,
  revokeApiKey,
  takeOverApiKeys,
} from "./api-keys.ts";

export interface KeyControl {
  list(): Promise<readonly ApiKey[]>;
  create(key: NewApiKey): Promise<ApiKey & { readonly key: string }>;
  takeOver(keys: readonly ForeignKey[]): Promise<void>;
  /** Undefined for an unknown id. */
  rename(id: string, change: Partial<Pick<ApiKey, "name" | "description">>): Promise<ApiKey | undefined>;
  /** False for an unknown id. */
  revoke(id: string): Promise<boolean>;
}

/** `changed` runs after each change and before its promise resolves, e.g. to load the keys into memory again. */
export function keyControl(
  store: Pick<Store, "records" | "sealer">,
  changed: () => Promise<void> | void = () => {},
): KeyControl {
  const afterwards = async <T>(change: Promise<T>): Promise<T> => {
    const result = await change;
    await changed();
    return result;
  };
  return {
    list: () => listApiKeys(store),
    create: (key) => afterwards(createApiKey(store, key)),
    takeOver: (keys) => afterwards(takeOverApiKeys(store, keys)),
    rename: (id, change) => afterwards(renameApiKey(store, id, change)),
    revoke: (id) => afterwards(revokeApiKey(store, id)),
  };
}

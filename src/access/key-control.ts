/** What the admin API asks of the keys of a gateway. A change counts once it is answered. */
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
  /** Undefined where there is none of that id. */
  rename(id: string, change: Partial<Pick<ApiKey, "name" | "description">>): Promise<ApiKey | undefined>;
  /** False where there is none of that id. */
  revoke(id: string): Promise<boolean>;
}

/** `changed` runs after each change, before it is answered: whoever keeps keys in memory reads them again there. */
export function keyControl(
  store: Pick<Store, "records" | "sealer">,
  changed: () => Promise<void> | void = () => {},
): KeyControl {
  const then = async <T>(change: Promise<T>): Promise<T> => {
    const result = await change;
    await changed();
    return result;
  };
  return {
    list: () => listApiKeys(store),
    create: (key) => then(createApiKey(store, key)),
    takeOver: (keys) => then(takeOverApiKeys(store, keys)),
    rename: (id, change) => then(renameApiKey(store, id, change)),
    revoke: (id) => then(revokeApiKey(store, id)),
  };
}

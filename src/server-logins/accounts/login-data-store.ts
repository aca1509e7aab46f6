/**
 * The tokens of one account at one server, kept in the store. A lease makes sure that only one gateway at a
 * time changes them.
 */
import { MetaMcpError } from "../../kernel/errors.ts";
import { StoreError } from "../../store/error.ts";
import { withLease } from "../../store/lease.ts";
import type { Store } from "../../store/store.ts";
import { EMPTY_LOGIN_DATA, type LoginData, readLoginData } from "../grant.ts";
import type { LoginDataStore } from "../store.ts";
import type { LoginKey, LoginRecords, StoredLogin } from "./login-records.ts";

/** Long enough for a slow issuer, which is called while the lease is held. */
const LEASE = { holdMs: 60_000, waitMs: 45_000 } as const;

export interface BookParts {
  readonly store: Pick<Store, "records" | "sealer">;
  readonly records: LoginRecords;
}

export function loginDataStoreInDatabase({ store, records }: BookParts, key: LoginKey): LoginDataStore {
  const open = (login: StoredLogin | undefined): LoginData =>
    login ? openLoginData(store, login) : EMPTY_LOGIN_DATA;
  const stamp = (): string => String(records.at(key)?.version ?? "");
  return {
    stamp,
    read: async () => open(records.at(key)),
    async update(change) {
      const name = `login ${key.server} ${key.account}`;
      try {
        return await withLease(
          store.records,
          name,
          async () => {
            const { login, version } = await records.fresh(key);
            const before = open(login);
            const loginData = await change(before);
            if (loginData === before) return { loginData, stamp: stamp() };
            if (loginData.grants.length === 0) await records.end(key, version);
            else await records.put(key, store.sealer.seal(JSON.stringify(loginData)), version);
            return { loginData, stamp: stamp() };
          },
          LEASE,
        );
      } catch (error) {
        if (!StoreError.is(error)) throw error;
        throw new MetaMcpError("auth_required", "the store cannot be written now", {
          cause: error,
        });
      }
    },
  };
}

const opened = new WeakMap<StoredLogin, LoginData>();

/** Decrypts a login. An unreadable one gives empty login data. */
export function openLoginData({ sealer }: Pick<Store, "sealer">, login: StoredLogin): LoginData {
  let loginData = opened.get(login);
  if (!loginData) {
    loginData = readLoginData(JSON.parse(sealer.open(login.sealed))) ?? EMPTY_LOGIN_DATA;
    opened.set(login, loginData);
  }
  return loginData;
}

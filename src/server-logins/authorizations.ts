/**
 * The logins at all remote servers, one per server and account, shared by all connections. Does not log in.
 */
import { idOf } from "../config/identity.ts";
import type { RemoteSpec } from "../config/spec.ts";
import { Lru } from "../kernel/lru.ts";
import { Bearer } from "./bearer.ts";
import { addressOf } from "./grant.ts";
import { type LoginDataStore, TokenStore } from "./store.ts";

/** Returns where the login of a server is stored. */
export type LoginDataStoreOf = (spec: RemoteSpec) => LoginDataStore;

/** Stores logins in METAMCP_HOME, by the name of the server. */
export function tokensInFolder(home: string): LoginDataStoreOf {
  return ({ name }) => new TokenStore(home, name);
}

/** Limits the cached logins. Links that use a dropped one keep it. */
const MAX_BEARERS = 10_000;

export class Authorizations {
  readonly #tokenBookOf: LoginDataStoreOf;
  readonly #now: () => number;
  readonly #bearers = new Lru<string, Bearer>(MAX_BEARERS);

  constructor(tokenBookOf: LoginDataStoreOf, now: () => number) {
    this.#tokenBookOf = tokenBookOf;
    this.#now = now;
  }

  for(spec: RemoteSpec): Bearer {
    const address = addressOf(spec.url);
    const key = keyOf(spec, address);
    let bearer = this.#bearers.get(key);
    if (!bearer) {
      bearer = new Bearer(this.#tokenBookOf(spec), spec, this.#now);
      this.#bearers.set(key, bearer);
    }
    bearer.configure(spec);
    return bearer;
  }

  /** Whether there was a login or logout since the tokens were last read. */
  changed(spec: RemoteSpec): boolean {
    return this.#bearers.peek(keyOf(spec, addressOf(spec.url)))?.stale ?? false;
  }
}

function keyOf(spec: RemoteSpec, address: string): string {
  return JSON.stringify([idOf(spec), address, spec.credential]);
}

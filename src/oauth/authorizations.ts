/** The logins of all remote servers, one each, shared by all their connections. Logs nobody in. */
import type { RemoteSpec } from "../config/spec.ts";
import { Bearer } from "./bearer.ts";
import { TokenStore } from "./store.ts";

export class Authorizations {
  readonly #home: string;
  readonly #now: () => number;
  readonly #bearers = new Map<string, Bearer>();

  constructor(home: string, now: () => number) {
    this.#home = home;
    this.#now = now;
  }

  for({ name, url, oauth }: RemoteSpec): Bearer {
    const place = addressOf(url);
    const key = JSON.stringify([name, place]);
    let bearer = this.#bearers.get(key);
    if (!bearer) {
      bearer = new Bearer(new TokenStore(this.#home, name), place, this.#now);
      this.#bearers.set(key, bearer);
    }
    bearer.configure(oauth);
    return bearer;
  }

  /** Whether someone logged in or out since the server was last asked. */
  changed({ name, url }: RemoteSpec): boolean {
    return this.#bearers.get(JSON.stringify([name, addressOf(url)]))?.stale ?? false;
  }
}

/** An address as tokens are kept by: however it is written, it is one. */
export function addressOf(url: string): string {
  return new URL(url).href;
}

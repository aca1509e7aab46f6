/** The logins at all remote servers, one for each account that is let in as itself, shared by all its connections. Logs nobody in. */
import { idOf } from "../config/identity.ts";
import type { RemoteSpec } from "../config/spec.ts";
import { Bearer } from "./bearer.ts";
import { type TokenBook, TokenStore } from "./store.ts";

/** Where the login is kept that a server is reached with. */
export type KeepLogins = (spec: RemoteSpec) => TokenBook;

/** Below the home folder, by the name of the server. */
export function inFolder(home: string): KeepLogins {
  return ({ name }) => new TokenStore(home, name);
}

/** Beyond so many those are forgotten that were made longest ago; links that use one keep it. */
const MOST_KNOWN = 10_000;

export class Authorizations {
  readonly #keep: KeepLogins;
  readonly #now: () => number;
  readonly #bearers = new Map<string, Bearer>();

  constructor(keep: KeepLogins, now: () => number) {
    this.#keep = keep;
    this.#now = now;
  }

  for(spec: RemoteSpec): Bearer {
    const place = addressOf(spec.url);
    const key = keyOf(spec, place);
    let bearer = this.#bearers.get(key);
    if (!bearer) {
      bearer = new Bearer(this.#keep(spec), place, this.#now);
      if (this.#bearers.size >= MOST_KNOWN) this.#bearers.delete(this.#bearers.keys().next().value as string);
      this.#bearers.set(key, bearer);
    }
    bearer.configure(spec.oauth);
    return bearer;
  }

  /** Whether someone logged in or out since the server was last asked. */
  changed(spec: RemoteSpec): boolean {
    return this.#bearers.get(keyOf(spec, addressOf(spec.url)))?.stale ?? false;
  }
}

function keyOf(spec: RemoteSpec, place: string): string {
  return JSON.stringify([idOf(spec), place, spec.credential]);
}

/** An address as tokens are kept by: however it is written, it is one. */
export function addressOf(url: string): string {
  return new URL(url).href;
}

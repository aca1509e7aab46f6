/**
 * All configured servers as the catalog knows them. One that lets each account in as itself is known once for each
 * credential, and what is known of one is shown to nobody who comes with another.
 */
import type { ServerId } from "../kernel/call.ts";
import { credentialIn, type ListKey, type ListSource, withCredential } from "../kernel/list-key.ts";
import type { KnownList } from "./known-list.ts";
import { KnownServer } from "./known-server.ts";
import { markOf } from "./search-id.ts";
import type { IndexedListing } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

export interface CatalogServer {
  /** What the cache entry belongs to: a hash of command, args, url, env names and credential. */
  readonly identity: string;
  readonly permits: (tool: string) => boolean;
  /** Where each account is let in as itself: what stands for what it is let in with; undefined where it is not. */
  readonly credentialOf?: (account: string | undefined) => string | undefined;
}

/** Whose view it is: what all share is listed for the key, the rest for the account. */
export interface ViewKey {
  readonly key: ListKey;
  readonly account: string | undefined;
}

export interface Place {
  readonly server: ServerId;
  readonly known: KnownServer;
}

/** Credentials whose lists are kept, of one server; who used it longest ago is asked again. */
const MOST_CREDENTIALS = 1_000;
/** Different lists of one server that are told to be equal to another's. */
const MOST_LISTS = 64;

interface Configured extends CatalogServer {
  readonly shared: KnownServer | undefined;
  readonly own: Map<string, KnownServer>;
  readonly lists: Map<string, readonly Tool[]>;
}

export class KnownServers {
  readonly #onGone: (place: Place) => void;
  #configured: ReadonlyMap<ServerId, Configured> = new Map();

  /** `onGone`: nothing is known any more of what was known there. */
  constructor(onGone: (place: Place) => void) {
    this.#onGone = onGone;
  }

  get ids(): Iterable<ServerId> {
    return this.#configured.keys();
  }

  /** Some of them let accounts in as themselves. */
  get personal(): boolean {
    for (const { credentialOf } of this.#configured.values()) if (credentialOf) return true;
    return false;
  }

  get places(): readonly Place[] {
    return [...this.#configured].flatMap(([server, { shared, own }]) =>
      [...(shared ? [shared] : []), ...own.values()].map((known) => ({ server, known })),
    );
  }

  /** Those that all share. */
  get shared(): readonly Place[] {
    return [...this.#configured].flatMap(([server, { shared }]) =>
      shared ? [{ server, known: shared }] : [],
    );
  }

  /** What is reached otherwise is forgotten: all of those, and those of which something was to be seen. */
  configure(servers: ReadonlyMap<ServerId, CatalogServer>): {
    readonly gone: readonly ServerId[];
    readonly seen: readonly ServerId[];
  } {
    const before = this.#configured;
    const gone = [...before].filter(([server, { identity }]) => servers.get(server)?.identity !== identity);
    const places = this.places.filter(({ server }) => gone.some(([id]) => id === server));
    this.#configured = new Map(
      Array.from(servers, ([server, given]) => {
        const old = before.get(server);
        const same = old?.identity === given.identity;
        return [server, same ? adopted(old, given) : configured(given)];
      }),
    );
    for (const place of places) this.#onGone(place);
    const seen = places.filter(({ known }) => known.known).map(({ server }) => server);
    return { gone: gone.map(([server]) => server), seen };
  }

  /** What all share; undefined where nobody shares. */
  get(server: ServerId): KnownServer | undefined {
    return this.#configured.get(server)?.shared;
  }

  /** Where what came from there is known; made if need be. Undefined where it can be nobody's any more. */
  at({ server, key }: ListSource): KnownServer | undefined {
    const one = this.#configured.get(server);
    if (!one?.credentialOf) return one?.shared;
    const credential = credentialIn(key);
    let known = one.own.get(credential);
    if (!known) {
      if (one.own.size >= MOST_CREDENTIALS) this.#forgetOldest(server, one.own);
      known = new KnownServer(one.identity, one.permits, true);
      one.own.set(credential, known);
    }
    return known;
  }

  /** It is still what is known there. */
  has({ server, key }: ListSource, known: KnownServer): boolean {
    const one = this.#configured.get(server);
    return known === (one?.credentialOf ? one.own.get(credentialIn(key)) : one?.shared);
  }

  listOf(server: ServerId, asker: ViewKey): KnownList | undefined {
    const [known, key] = this.#seen(server, asker);
    return known?.get(key);
  }

  listing(server: ServerId, asker: ViewKey): IndexedListing | undefined {
    const [known, key] = this.#seen(server, asker);
    return known?.listing(key);
  }

  /** Over which key the lists come that they see; undefined where they are not let in. */
  keyFor(server: ServerId, asker: ViewKey): ListKey | undefined {
    const { credentialOf } = this.#configured.get(server) ?? {};
    const [, key] = this.#seen(server, asker);
    return credentialOf && key === asker.key ? undefined : key;
  }

  /** The account, where it is let in as itself; "" where all are alike. */
  whose(server: ServerId, account: string | undefined): string {
    return (this.#configured.get(server)?.credentialOf && account) ?? "";
  }

  /** Accounts that list the same have the same objects. */
  interned(server: ServerId, tools: readonly Tool[]): readonly Tool[] {
    const one = this.#configured.get(server);
    if (!one?.credentialOf) return tools;
    const mark = markOf(tools);
    const same = one.lists.get(mark);
    if (same) return same;
    if (one.lists.size >= MOST_LISTS) one.lists.delete(one.lists.keys().next().value as string);
    one.lists.set(mark, tools);
    return tools;
  }

  /** One of the accounts that it lets in as themselves lists it, or did not long ago. */
  anyoneLists(server: ServerId, tool: string): boolean {
    for (const tools of this.#configured.get(server)?.lists.values() ?? [])
      if (tools.some(({ name }) => name === tool)) return true;
    return false;
  }

  #seen(server: ServerId, { key, account }: ViewKey): readonly [KnownServer | undefined, ListKey] {
    const one = this.#configured.get(server);
    if (!one?.credentialOf) return [one?.shared, key];
    const credential = one.credentialOf(account);
    return credential === undefined
      ? [undefined, key]
      : [one.own.get(credential), withCredential(key, credential)];
  }

  #forgetOldest(server: ServerId, own: Map<string, KnownServer>): void {
    for (const [credential, known] of own) {
      own.delete(credential);
      this.#onGone({ server, known });
      return;
    }
  }
}

function configured(given: CatalogServer): Configured {
  const { identity, permits, credentialOf } = given;
  const shared = credentialOf ? undefined : new KnownServer(identity, permits);
  return { ...given, shared, own: new Map(), lists: new Map() };
}

function adopted(old: Configured, given: CatalogServer): Configured {
  for (const known of [...(old.shared ? [old.shared] : []), ...old.own.values()])
    known.permits = given.permits;
  return { ...old, ...given };
}

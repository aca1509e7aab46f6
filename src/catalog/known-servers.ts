/**
 * The catalog's state of all configured servers. A server that lists per account has one state per
 * credential, and clients with one credential never see the lists of another.
 */
import type { ServerId } from "../kernel/call.ts";
import { credentialIn, type ListKey, type ListSource, withCredential } from "../kernel/list-key.ts";
import type { KnownList } from "./known-list.ts";
import { KnownServer, type ServerRules } from "./known-server.ts";
import { hashOf } from "./search-id.ts";
import type { IndexedListing } from "./snapshot.ts";
import type { Tool } from "./tool.ts";

export interface CatalogServer extends ServerRules {
  /**
   * Set if the server lists per account: returns the id of the account's credential, or undefined if it has
   * none.
   */
  readonly credentialOf?: (account: string | undefined) => string | undefined;
}

/** Identifies a view: shared servers are listed by `key`, the others by `account`. */
export interface ViewKey {
  readonly key: ListKey;
  readonly account: string | undefined;
}

export interface KnownEntry {
  readonly server: ServerId;
  readonly known: KnownServer;
}

/** Credentials of one server whose lists are kept. The oldest is dropped and listed again when needed. */
const MAX_CREDENTIALS = 1_000;
/** Different lists of one server that are kept for sharing between accounts. */
const MAX_LISTS = 64;

interface ConfiguredServer {
  readonly given: CatalogServer;
  /** Undefined if the server lists per account. */
  readonly shared: KnownServer | undefined;
  /** By credential. */
  readonly own: Map<string, KnownServer>;
  /** Recent tool lists of accounts, by their hash. */
  readonly lists: Map<string, readonly Tool[]>;
}

export class KnownServers {
  readonly #onRemoved: (entry: KnownEntry) => void;
  #configured: ReadonlyMap<ServerId, ConfiguredServer> = new Map();

  /** `onRemoved` is called for each state that was dropped. */
  constructor(onRemoved: (entry: KnownEntry) => void) {
    this.#onRemoved = onRemoved;
  }

  get ids(): Iterable<ServerId> {
    return this.#configured.keys();
  }

  /** True if some server lists per account. */
  get personal(): boolean {
    for (const { given } of this.#configured.values()) if (given.credentialOf) return true;
    return false;
  }

  get entries(): readonly KnownEntry[] {
    return [...this.#configured].flatMap(([server, { shared, own }]) =>
      [...(shared ? [shared] : []), ...own.values()].map((known) => ({ server, known })),
    );
  }

  /** The servers whose lists all accounts share. */
  get shared(): readonly KnownEntry[] {
    return [...this.#configured].flatMap(([server, { shared }]) =>
      shared ? [{ server, known: shared }] : [],
    );
  }

  /**
   * Drops servers that were removed or changed identity. Returns all of them, and those of which something
   * was visible.
   */
  configure(servers: ReadonlyMap<ServerId, CatalogServer>): {
    readonly removed: readonly ServerId[];
    readonly visible: readonly ServerId[];
  } {
    const before = this.#configured;
    const removed = [...before].filter(
      ([server, old]) => servers.get(server)?.identity !== old.given.identity,
    );
    const entries = this.entries.filter(({ server }) => removed.some(([id]) => id === server));
    this.#configured = new Map(
      Array.from(servers, ([server, given]) => {
        const old = before.get(server);
        const same = old !== undefined && old.given.identity === given.identity;
        return [server, same ? withNewRules(old, given) : newServer(given)];
      }),
    );
    for (const entry of entries) this.#onRemoved(entry);
    const visible = entries.filter(({ known }) => known.hasList).map(({ server }) => server);
    return { removed: removed.map(([server]) => server), visible };
  }

  /** The shared state of the server; undefined if it lists per account. */
  get(server: ServerId): KnownServer | undefined {
    return this.#configured.get(server)?.shared;
  }

  /**
   * The state that a list from this source belongs to; creates it if needed. Undefined if the server is not
   * configured.
   */
  serverFor({ server, key }: ListSource): KnownServer | undefined {
    const one = this.#configured.get(server);
    if (!one?.given.credentialOf) return one?.shared;
    const credential = credentialIn(key);
    let known = one.own.get(credential);
    if (!known) {
      if (one.own.size >= MAX_CREDENTIALS) this.#forgetOldest(server, one.own);
      known = new KnownServer(one.given, true);
      one.own.set(credential, known);
    }
    return known;
  }

  /** Whether `known` is still the state for this source. */
  has({ server, key }: ListSource, known: KnownServer): boolean {
    const one = this.#configured.get(server);
    return known === (one?.given.credentialOf ? one.own.get(credentialIn(key)) : one?.shared);
  }

  listOf(server: ServerId, asker: ViewKey): KnownList | undefined {
    const [known, key] = this.#stateFor(server, asker);
    return known?.get(key);
  }

  listing(server: ServerId, asker: ViewKey): IndexedListing | undefined {
    const [known, key] = this.#stateFor(server, asker);
    return known?.listing(key);
  }

  /** The key of the lists that this view shows; undefined if the account has no credential at the server. */
  keyFor(server: ServerId, asker: ViewKey): ListKey | undefined {
    const { credentialOf } = this.#configured.get(server)?.given ?? {};
    const [, key] = this.#stateFor(server, asker);
    return credentialOf && key === asker.key ? undefined : key;
  }

  /** The account if the server lists per account, else "". */
  accountScope(server: ServerId, account: string | undefined): string {
    return (this.#configured.get(server)?.given.credentialOf && account) ?? "";
  }

  /** Returns the objects of an equal list of another account if there is one. */
  intern(server: ServerId, tools: readonly Tool[]): readonly Tool[] {
    const one = this.#configured.get(server);
    if (!one?.given.credentialOf) return tools;
    const hash = hashOf(tools);
    const same = one.lists.get(hash);
    if (same) return same;
    if (one.lists.size >= MAX_LISTS) one.lists.delete(one.lists.keys().next().value as string);
    one.lists.set(hash, tools);
    return tools;
  }

  /** Whether a recent list of some account contains the tool. */
  someAccountLists(server: ServerId, tool: string): boolean {
    for (const tools of this.#configured.get(server)?.lists.values() ?? [])
      if (tools.some(({ name }) => name === tool)) return true;
    return false;
  }

  #stateFor(server: ServerId, { key, account }: ViewKey): readonly [KnownServer | undefined, ListKey] {
    const one = this.#configured.get(server);
    if (!one?.given.credentialOf) return [one?.shared, key];
    const credential = one.given.credentialOf(account);
    return credential === undefined
      ? [undefined, key]
      : [one.own.get(credential), withCredential(key, credential)];
  }

  #forgetOldest(server: ServerId, own: Map<string, KnownServer>): void {
    for (const [credential, known] of own) {
      own.delete(credential);
      this.#onRemoved({ server, known });
      return;
    }
  }
}

function newServer(given: CatalogServer): ConfiguredServer {
  const shared = given.credentialOf ? undefined : new KnownServer(given);
  return { given, shared, own: new Map(), lists: new Map() };
}

function withNewRules(old: ConfiguredServer, given: CatalogServer): ConfiguredServer {
  for (const known of [...(old.shared ? [old.shared] : []), ...old.own.values()])
    known.permits = given.permits;
  return { ...old, given };
}

/** All API keys in memory: each request is checked here, and the store is not asked. */
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Store } from "../store/store.ts";
import { type Account, type AccountDirectory, livePrincipal, type Role } from "./account.ts";
import { API_KEY, hashOf, type StoredKey } from "./api-key.ts";
import { pepperOf } from "./api-keys.ts";
import { lesserRole } from "./may.ts";
import { Mirror } from "./mirror.ts";

export interface KeyHolder {
  readonly keyId: string;
  readonly principal: Principal;
  /** Whose the key is; undefined: nobody's. */
  readonly account: Account | undefined;
  /** What it may do at the admin API; undefined: nothing. */
  readonly role: Role | undefined;
  /** Whether the key opens the endpoint of that uuid, as far as the key goes. */
  opens(endpoint: string): boolean;
}

/** A key as whoever holds it would be seen, told without holding it. */
export interface KnownKey extends KeyHolder {
  /** Its time is over. */
  readonly expired: boolean;
}

export interface KeyRingOptions {
  readonly accounts?: Pick<AccountDirectory, "byId">;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly clock?: Clock;
  /** A key was revoked or has expired: nothing of this principal goes on. */
  readonly onEnded?: (principal: Principal) => void;
  /** Somebody came with it. */
  readonly onUsed?: (keyId: string) => void;
}

export interface EndingKey {
  readonly id: string;
  readonly name: string;
  /** Uuid of the account that owns it. */
  readonly owner: string | undefined;
  readonly expiresAt: number;
}

interface Held {
  readonly id: string;
  readonly key: StoredKey;
  readonly open: ReadonlySet<string> | "all";
  readonly principal: Principal;
  readonly expiresAt: number;
}

export class KeyRing {
  readonly #pepper: Buffer;
  readonly #options: KeyRingOptions;
  readonly #now: () => number;
  readonly #mirror: Mirror<StoredKey>;
  /**
   * By their hashes. How long a lookup takes tells nothing: without the pepper nobody can choose a text by its hash.
   */
  #keys: ReadonlyMap<string, Held> = new Map();
  /** By the texts of those that were shown since keys last changed: clients show theirs with each request. */
  #shown = new Map<string, Held>();
  #timer: Timer | undefined;

  constructor(store: Pick<Store, "records" | "sealer">, options: KeyRingOptions = {}) {
    this.#pepper = pepperOf(store);
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#mirror = new Mirror(store, API_KEY);
    this.#mirror.on((after) => this.#take(after));
  }

  /** Reads all keys again. What came with one that is gone ends. */
  load(): Promise<void> {
    return this.#mirror.load();
  }

  /** Who shows this text; undefined for whoever shows no key that counts at this moment. */
  holderOf(text: string): KeyHolder | undefined {
    const held = this.#shown.get(text) ?? this.#find(text);
    if (!held || held.expiresAt <= this.#now()) return undefined;
    const holder = this.#holderOf(held);
    if (held.key.owner !== undefined && (!holder.account || holder.account.disabled)) return undefined;
    this.#options.onUsed?.(held.id);
    return holder;
  }

  /** Keys of this uuid or name, in the name of somebody else. */
  called(reference: string, actor: Principal["actor"]): readonly KnownKey[] {
    return [...this.#keys.values()]
      .filter(({ id, key }) => id === reference || key.name === reference)
      .map((held) => ({
        ...this.#holderOf(held),
        principal: this.#principalOf(held.id, held.key, actor),
        expired: held.expiresAt <= this.#now(),
      }));
  }

  #holderOf({ id, key, principal, open }: Held): KeyHolder {
    const account = key.owner === undefined ? undefined : this.#options.accounts?.byId(key.owner);
    const role = key.role && account ? lesserRole(key.role, account.role) : key.role;
    const opens = (endpoint: string): boolean => open === "all" || open.has(endpoint);
    return { keyId: id, principal, account, role, opens };
  }

  #find(text: string): Held | undefined {
    const held = this.#keys.get(hashOf(text, this.#pepper));
    // What is no key is not kept, so there are never more than keys.
    if (held) this.#shown.set(text, held);
    return held;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** Those that end before this time, in milliseconds since 1970, the first first. */
  ending(before: number): readonly EndingKey[] {
    return [...this.#keys.values()]
      .filter(({ expiresAt }) => expiresAt < before)
      .map(({ id, key: { name, owner }, expiresAt }) => ({ id, name, owner, expiresAt }))
      .toSorted((a, b) => a.expiresAt - b.expiresAt);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #take(stored: ReadonlyMap<string, StoredKey>): void {
    const before = new Map([...this.#keys.values()].map((held) => [held.id, held]));
    const held = [...stored].map(([id, key]) => this.#heldOf(id, key, before.get(id)));
    this.#keys = new Map(held.map((one) => [one.key.hash, one]));
    this.#shown = new Map();
    for (const [id, { principal }] of before) if (!stored.has(id)) this.#options.onEnded?.(principal);
    this.#expire();
  }

  /** What is open with a key ends when the key does, by a timer: nobody need ask. */
  #expire(): void {
    const { clock, onEnded } = this.#options;
    this.#timer?.cancel();
    if (!clock) return;
    const now = this.#now();
    const all = [...this.#keys.values()].filter(({ expiresAt }) => Number.isFinite(expiresAt));
    for (const { expiresAt, principal } of all) if (expiresAt <= now) onEnded?.(principal);
    const next = Math.min(...all.flatMap(({ expiresAt }) => (expiresAt > now ? [expiresAt] : [])));
    if (Number.isFinite(next)) this.#timer = clock.after(next - now, () => this.#expire());
  }

  /** The principal stays the same object while its key is there under its name. */
  #heldOf(id: string, key: StoredKey, before: Held | undefined): Held {
    const { endpoints = [], expiresAt, name } = key;
    const kept = before && before.key.name === name ? before.principal : undefined;
    return {
      id,
      key,
      open: endpoints === "all" ? endpoints : new Set(endpoints),
      principal: kept ?? this.#principalOf(id, key),
      expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
    };
  }

  #principalOf(id: string, { name, owner, role, tiers }: StoredKey, actor?: Principal["actor"]): Principal {
    const came = { key: { id, name }, ...(tiers && { tiers }), ...(actor && { actor }) };
    const { accounts } = this.#options;
    if (owner !== undefined && accounts)
      return livePrincipal(accounts, owner, { ...came, ...(role && { most: role }) });
    return { id: `key ${id}`, kind: "key", name, roles: role ? [role] : [], groups: [], ...came };
  }
}

/** All API keys in memory. Authenticates requests without reading the store. */
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Store } from "../store/store.ts";
import { type Account, type AccountDirectory, livePrincipal, type Role } from "./account.ts";
import { API_KEY, hashOf, type StoredKey } from "./api-key.ts";
import { pepperOf } from "./api-keys.ts";
import type { MachineClient } from "./machine-client.ts";
import { lesserRole } from "./may.ts";
import { Mirror } from "./mirror.ts";

export interface KeyHolder {
  readonly keyId: string;
  readonly principal: Principal;
  /** The owner of the key. Undefined for a key without owner. */
  readonly account: Account | undefined;
  /** Its role at the admin API. Undefined for a key for endpoints. */
  readonly role: Role | undefined;
  /** Whether the key is valid for the endpoint with this uuid. The endpoint may still refuse the account. */
  opens(endpoint: string): boolean;
}

/** A key that was found by name or uuid, without its text. */
export interface KnownKey extends KeyHolder {
  readonly expired: boolean;
}

/** A machine client. Its id as an OAuth client is that of the key. */
export interface KnownMachine extends KeyHolder {
  readonly name: string;
  readonly client: MachineClient;
}

export interface KeyRingOptions {
  readonly accounts?: Pick<AccountDirectory, "byId">;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly clock?: Clock;
  /** How long keys are valid at most after they were created or rotated, also those without expiry. */
  readonly lifetimeMs?: (() => number | undefined) | undefined;
  /** Runs when a key was revoked or has expired. Sessions and calls of the principal must end. */
  readonly onEnded?: (principal: Principal) => void;
  /** Runs when a key was used. */
  readonly onUsed?: (keyId: string) => void;
}

export interface ExpiringKey {
  readonly id: string;
  readonly name: string;
  /** Uuid of the account that owns it. */
  readonly owner: string | undefined;
  readonly expiresAt: number;
}

interface CachedKey {
  readonly id: string;
  readonly key: StoredKey;
  readonly open: ReadonlySet<string> | "all";
  readonly principal: Principal;
  readonly expiresAt: number;
}

type Lifetime = Pick<StoredKey, "createdAt" | "rotatedAt" | "expiresAt">;

export class KeyRing {
  readonly #pepper: Buffer;
  readonly #options: KeyRingOptions;
  readonly #now: () => number;
  readonly #mirror: Mirror<StoredKey>;
  /**
   * By hash. The duration of a lookup reveals nothing, because nobody can choose a text by its hash without
   * the pepper.
   */
  #keys: ReadonlyMap<string, CachedKey> = new Map();
  /** By hash: the former texts of rotated keys. They expire with the overlap. */
  #former: ReadonlyMap<string, CachedKey> = new Map();
  /** Machine clients, by id. */
  #machines: ReadonlyMap<string, CachedKey> = new Map();
  /**
   * By text: keys that were used since the keys last changed. It saves the hash, as clients send their key
   * with each request.
   */
  #byText = new Map<string, CachedKey>();
  #timer: Timer | undefined;
  #lifetimeMs: number | undefined;

  constructor(store: Pick<Store, "records" | "sealer">, options: KeyRingOptions = {}) {
    this.#pepper = pepperOf(store);
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#lifetimeMs = options.lifetimeMs?.();
    this.#mirror = new Mirror(store, API_KEY);
    this.#mirror.on((after) => this.#update(after));
  }

  /** Reads all keys again. Calls `onEnded` for keys that are gone. */
  load(): Promise<void> {
    return this.#mirror.load();
  }

  /** The longest lifetime may have changed: keys that are now too old end. */
  limitChanged(): void {
    const lifetimeMs = this.#options.lifetimeMs?.();
    if (lifetimeMs === this.#lifetimeMs) return;
    this.#lifetimeMs = lifetimeMs;
    this.#update(this.#mirror.values);
  }

  /** When a key ends (ISO 8601): its own expiry or the longest lifetime, whichever is earlier. */
  expiryOf(key: Lifetime): string | undefined {
    const end = this.#endOf(key);
    return Number.isFinite(end) ? new Date(end).toISOString() : undefined;
  }

  #endOf({ createdAt, rotatedAt = createdAt, expiresAt }: Lifetime): number {
    const own = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
    const limit = this.#lifetimeMs;
    return limit === undefined ? own : Math.min(own, Date.parse(rotatedAt) + limit);
  }

  /**
   * The holder of the key with this text. Undefined if the key is unknown, expired, that of a machine client,
   * or its account is disabled.
   */
  holderOf(text: string): KeyHolder | undefined {
    const cached = this.#byText.get(text) ?? this.#find(text);
    return cached && !cached.key.machine ? this.#usable(cached) : undefined;
  }

  /** Undefined for an id that is unknown or not that of a machine client, and under the same conditions. */
  machineOf(id: string): KnownMachine | undefined {
    const cached = this.#machines.get(id);
    const holder = cached && this.#usable(cached);
    if (!holder || !cached.key.machine) return undefined;
    return { ...holder, name: cached.key.name, client: cached.key.machine };
  }

  /** Whether the text is the secret of this machine client, or its former one in the overlap. */
  isSecretOf(id: string, text: string): boolean {
    const cached = this.#find(text);
    return cached?.id === id && cached.key.machine !== undefined && cached.expiresAt > this.#now();
  }

  #usable(cached: CachedKey): KeyHolder | undefined {
    if (cached.expiresAt <= this.#now()) return undefined;
    const holder = this.#holderOf(cached);
    if (cached.key.owner !== undefined && (!holder.account || holder.account.disabled)) return undefined;
    this.#options.onUsed?.(cached.id);
    return holder;
  }

  /** Keys with this uuid or name. `actor` is the person who acts as the holder of the key. */
  byReference(reference: string, actor: Principal["actor"]): readonly KnownKey[] {
    return [...this.#keys.values()]
      .filter(({ id, key }) => id === reference || key.name === reference)
      .map((cached) => ({
        ...this.#holderOf(cached),
        principal: this.#principalOf(cached.id, cached.key, actor),
        expired: cached.expiresAt <= this.#now(),
      }));
  }

  #holderOf({ id, key, principal, open }: CachedKey): KeyHolder {
    const account = key.owner === undefined ? undefined : this.#options.accounts?.byId(key.owner);
    const role = key.role && account ? lesserRole(key.role, account.role) : key.role;
    const opens = (endpoint: string): boolean => open === "all" || open.has(endpoint);
    return { keyId: id, principal, account, role, opens };
  }

  #find(text: string): CachedKey | undefined {
    const hash = hashOf(text, this.#pepper);
    const cached = this.#keys.get(hash) ?? this.#former.get(hash);
    // Unknown texts are not cached, so the cache is never larger than the number of texts.
    if (cached) this.#byText.set(text, cached);
    return cached;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** Keys that expire before this time (milliseconds since 1970), earliest first. */
  expiringBefore(before: number): readonly ExpiringKey[] {
    return [...this.#keys.values()]
      .filter(({ expiresAt }) => expiresAt < before)
      .map(({ id, key: { name, owner }, expiresAt }) => ({ id, name, owner, expiresAt }))
      .toSorted((a, b) => a.expiresAt - b.expiresAt);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #update(stored: ReadonlyMap<string, StoredKey>): void {
    const before = new Map([...this.#keys.values()].map((cached) => [cached.id, cached]));
    const cached = [...stored].map(([id, key]) => this.#cachedKeyOf(id, key, before.get(id)));
    this.#keys = new Map(cached.map((one) => [one.key.hash, one]));
    this.#former = new Map(
      cached.flatMap((one) => {
        const { formerHash, overlapUntil } = one.key;
        if (formerHash === undefined || overlapUntil === undefined) return [];
        return [[formerHash, { ...one, expiresAt: Math.min(one.expiresAt, Date.parse(overlapUntil)) }]];
      }),
    );
    this.#machines = new Map(cached.flatMap((one) => (one.key.machine ? [[one.id, one]] : [])));
    this.#byText = new Map();
    for (const [id, { principal, key }] of before)
      if (!stored.has(id) || isReplaced(key, stored.get(id))) this.#options.onEnded?.(principal);
    this.#expire();
  }

  /** Ends sessions and calls of expired keys by a timer, even if no request comes. */
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

  /** The principal stays the same object while the key exists with the same name. */
  #cachedKeyOf(id: string, key: StoredKey, before: CachedKey | undefined): CachedKey {
    const { endpoints = [], name } = key;
    const unchanged = before && before.key.name === name ? before.principal : undefined;
    return {
      id,
      key,
      open: endpoints === "all" ? endpoints : new Set(endpoints),
      principal: unchanged ?? this.#principalOf(id, key),
      expiresAt: this.#endOf(key),
    };
  }

  #principalOf(
    id: string,
    { name, owner, role, tiers, machine }: StoredKey,
    actor?: Principal["actor"],
  ): Principal {
    const client = machine && { client: id };
    const fields = { key: { id, name }, ...client, ...(tiers && { tiers }), ...(actor && { actor }) };
    const { accounts } = this.#options;
    if (owner !== undefined && accounts)
      return livePrincipal(accounts, owner, { ...fields, ...(role && { maxRole: role }) });
    return { id: `key ${id}`, kind: "key", name, roles: role ? [role] : [], groups: [], ...fields };
  }
}

/** Whether the key got another text without an overlap: what the former one opened must end. */
function isReplaced({ hash }: StoredKey, now: StoredKey | undefined): boolean {
  return now !== undefined && now.hash !== hash && now.formerHash !== hash;
}

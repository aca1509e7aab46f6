/**
 * Consents and grants of OAuth clients. A consent belongs to one account, client, endpoint and redirect host,
 * as the consent page named them. Each login under it creates its own grant, and all tokens of that login
 * belong to the grant. Revoked grants stay in memory until their access tokens have expired.
 */
import { allRecords } from "../access/mirror.ts";
import type { RecordChange, Store, StoredRecord } from "../store/store.ts";
import type { RecordId } from "./record-id.ts";

export const CONSENT = "oauth-consent";
export const GRANT = "oauth-grant";
export const REVOKED = "oauth-revoked";

/** Lifetime of access tokens, in seconds. */
export const ACCESS_TOKEN_S = 3_600;
const REVOKED_MS = (ACCESS_TOKEN_S + 60) * 1_000;
/** Precision of `lastUsedAt`. */
const USE_MS = 60 * 60_000;

export interface GrantHolder {
  /** Its uuid. */
  readonly account: string;
  /** Id of the OAuth client. */
  readonly client: string;
}

export interface GrantScope extends GrantHolder {
  /** Uuid of the endpoint, because another endpoint can get its name later. */
  readonly endpoint: string;
  /** Where the client sends the user back to, as the consent page shows it. */
  readonly redirectHost: string;
}

export interface ClientConsent extends GrantScope {
  readonly clientName: string;
  /** The audience of its tokens when it was given. */
  readonly resource: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly lastUsedAt: string;
}

type GrantStore = Pick<Store, "records">;

export class Grants {
  readonly #store: GrantStore;
  readonly #idOf: RecordId;
  readonly #now: () => number;
  readonly #onRevoked: (holder: GrantHolder) => void;
  #revoked: ReadonlyMap<string, GrantHolder> = new Map();

  constructor(
    store: GrantStore,
    {
      idOf,
      onRevoked,
      now = Date.now,
    }: {
      readonly idOf: RecordId;
      /** Runs when a grant was revoked. Sessions of this account with this client must end. */
      readonly onRevoked: (holder: GrantHolder) => void;
      readonly now?: () => number;
    },
  ) {
    this.#store = store;
    this.#idOf = idOf;
    this.#now = now;
    this.#onRevoked = onRevoked;
  }

  /** Reads the revoked grants again: at start, and when the store reports a change. */
  async load(): Promise<void> {
    const before = this.#revoked;
    const records = await allRecords(this.#store, REVOKED);
    this.#revoked = new Map(records.map(({ id, value }) => [id, value as GrantHolder]));
    for (const [id, holder] of this.#revoked) if (!before.has(id)) this.#onRevoked(holder);
  }

  /** `grant` is its id in the store, which tokens contain. */
  isRevoked(grant: string): boolean {
    return this.#revoked.has(grant);
  }

  async isConsented(scope: GrantScope): Promise<boolean> {
    return (await this.#store.records.get(CONSENT, this.#consentId(scope))) !== undefined;
  }

  async consent(scope: GrantScope, details: Pick<ClientConsent, "clientName" | "resource">): Promise<void> {
    const id = this.#consentId(scope);
    const at = new Date(this.#now()).toISOString();
    const known = (await this.#store.records.get(CONSENT, id))?.value as ClientConsent | undefined;
    const value: ClientConsent = {
      ...scope,
      ...details,
      createdAt: known?.createdAt ?? at,
      lastUsedAt: at,
    };
    await this.#store.records.put({ kind: CONSENT, id, value });
  }

  /** Binds a saved grant to what the consent named. A grant that is not bound is not valid. */
  async bind(grant: string, { account, client, endpoint, redirectHost }: GrantScope): Promise<void> {
    const record = await this.#store.records.get(GRANT, grant);
    if (!record) return;
    const { kind, id, expiresAt, version } = record;
    const value = { ...(record.value as object), account, client, endpoint, redirectHost };
    const expiry = expiresAt === undefined ? {} : { expiresAt };
    await this.#store.records.put({ kind, id, value, ...expiry, ifVersion: version });
  }

  /** Undefined if the grant is unknown or not bound. */
  async scopeOf(grant: string): Promise<GrantScope | undefined> {
    const scope = (await this.#store.records.get(GRANT, grant))?.value as Partial<GrantScope> | undefined;
    return isBound(scope) ? scope : undefined;
  }

  /** Records that tokens were issued under a grant. Writes at most once an hour. */
  async used(grant: string): Promise<void> {
    const scope = await this.scopeOf(grant);
    if (!scope) return;
    const id = this.#consentId(scope);
    const record = await this.#store.records.get(CONSENT, id);
    const consent = record?.value as ClientConsent | undefined;
    if (!record || !consent || this.#now() - Date.parse(consent.lastUsedAt) < USE_MS) return;
    const value: ClientConsent = { ...consent, lastUsedAt: new Date(this.#now()).toISOString() };
    // Ignores a conflict: the newer write counts.
    await this.#store.records.put({ kind: CONSENT, id, value, ifVersion: record.version }).catch(() => {});
  }

  async list(account: string): Promise<readonly (ClientConsent & { readonly id: string })[]> {
    const records = await allRecords(this.#store, CONSENT);
    return records
      .map(({ id, value }) => ({ id, ...(value as ClientConsent) }))
      .filter((consent) => consent.account === account && isBound(consent));
  }

  /**
   * Deletes a consent and revokes its grants, so that the client must ask again. Returns false if the account
   * has no such consent.
   */
  async revoke(account: string, id: string): Promise<boolean> {
    const consent = (await this.#store.records.get(CONSENT, id))?.value as ClientConsent | undefined;
    if (consent?.account !== account) return false;
    await this.#revoke(await this.#grantsOf((scope) => this.#consentId(scope) === id), [
      { delete: { kind: CONSENT, id } },
    ]);
    return true;
  }

  /** Revokes all consents and grants of an account. */
  async revokeAll(account: string): Promise<void> {
    const consents = (await this.list(account)).map(({ id }) => ({ delete: { kind: CONSENT, id } }));
    await this.#revoke(await this.#grantsOf((scope) => scope.account === account), consents);
  }

  /**
   * Revokes all consents and grants of endpoints that do not exist any more, and those that are not bound to
   * one.
   */
  async revokeWithout(exists: (endpoint: string) => boolean): Promise<void> {
    const isGone = (scope: Partial<GrantScope>): boolean => !isBound(scope) || !exists(scope.endpoint);
    const consents = (await allRecords(this.#store, CONSENT)).filter(({ value }) => isGone(value as object));
    const grants = await this.#grantsOf(isGone);
    if (consents.length + grants.length === 0) return;
    await this.#revoke(
      grants,
      consents.map(({ id }) => ({ delete: { kind: CONSENT, id } })),
    );
  }

  /** Revokes one grant: a code or refresh token was used twice, or the client revoked a token. */
  async revokeGrant(id: string): Promise<void> {
    const record = await this.#store.records.get(GRANT, id);
    if (record) await this.#revoke([record], []);
  }

  async #revoke(grants: readonly StoredRecord[], also: readonly RecordChange[]): Promise<void> {
    const expiresAt = this.#now() + REVOKED_MS;
    const changes = grants.flatMap(({ id, value }): RecordChange[] => {
      const { account, client } = value as GrantScope;
      return [
        { delete: { kind: GRANT, id } },
        { put: { kind: REVOKED, id, value: { account, client } satisfies GrantHolder, expiresAt } },
      ];
    });
    if (changes.length + also.length > 0) await this.#store.records.write([...changes, ...also]);
    await this.load();
  }

  async #grantsOf(matches: (scope: GrantScope) => boolean): Promise<readonly StoredRecord[]> {
    return (await allRecords(this.#store, GRANT)).filter(({ value }) => matches(value as GrantScope));
  }

  #consentId({ account, client, endpoint, redirectHost }: GrantScope): string {
    return this.#idOf("consent", JSON.stringify([account, client, endpoint, redirectHost]));
  }
}

function isBound(scope: Partial<GrantScope> | undefined): scope is GrantScope {
  return scope?.endpoint !== undefined && scope.redirectHost !== undefined;
}

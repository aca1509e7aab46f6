/**
 * Provides the bearer token for requests to one server. Renews it before it expires and notices changes by
 * other processes. Uses no timers, and writes tokens only to the store.
 */
import type { OAuthSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { type Grant, grantInUse, isDue, isExpired, union, validScopes, withGrant } from "./grant.ts";
import { renew } from "./renew.ts";
import type { LoginDataStore, StampedLoginData } from "./store.ts";

export interface ShownBearer {
  readonly header: string;
  readonly holder: string;
}

/** The pause after a failed renewal, and after a server has refused a newly renewed token. */
const RETRY_PAUSE_MS = 10_000;

export class Bearer {
  readonly #store: LoginDataStore;
  readonly #url: string;
  readonly #now: () => number;
  /** The stamp of the last read; undefined before the first. */
  #stamp: string | undefined;
  #oauth: OAuthSpec | undefined;
  #grant: Grant | undefined;
  #shown: ShownBearer | undefined;
  #renewing: Promise<ShownBearer | string> | undefined;
  /** The last failed renewal, if it may succeed later. */
  #failure: { readonly at: number; readonly reason: string } | undefined;
  /** When the server refused a newly renewed token. */
  #newTokenRefusedAt = Number.NEGATIVE_INFINITY;

  /** `now` is the wall clock, because it is compared with times that other processes have written. */
  constructor(store: LoginDataStore, url: string, now: () => number) {
    this.#store = store;
    this.#url = url;
    this.#now = now;
  }

  /** Sets the OAuth settings of the config. Logins of another client id are not used. */
  configure(oauth: OAuthSpec | undefined): void {
    if (oauth?.clientId !== this.#oauth?.clientId) this.#stamp = undefined;
    this.#oauth = oauth;
  }

  /** True if the stored tokens changed since they were last read. */
  get stale(): boolean {
    return this.#stamp !== undefined && this.#stamp !== this.#store.stamp();
  }

  current(): ShownBearer | undefined | Promise<ShownBearer | undefined> {
    const known = this.#stamp !== undefined && !this.stale;
    if (known && !(this.#grant && this.#renewable(this.#grant))) return this.#shown;
    return this.#prepare();
  }

  async replace(
    refused: ShownBearer,
    { missing }: { readonly missing: readonly string[] | undefined },
  ): Promise<ShownBearer | string> {
    await this.#reload();
    if (!this.#grant || !this.#shown) return "it was logged out";
    if (this.#shown.header !== refused.header) return this.#shown;
    if (missing) return await this.#rememberScopes(missing);
    if (this.#isRecent(this.#newTokenRefusedAt)) return "it refuses even a new token";
    return await this.#renew(this.#grant);
  }

  replacementDenied(): void {
    this.#newTokenRefusedAt = this.#now();
  }

  #renewable(grant: Grant): boolean {
    return (
      isDue(grant, this.#now()) && (this.#recentFailure() === undefined || isExpired(grant, this.#now()))
    );
  }

  /** Uses the absolute difference, because the clock may be set back. */
  #isRecent(time: number): boolean {
    return Math.abs(this.#now() - time) < RETRY_PAUSE_MS;
  }

  #recentFailure(): string | undefined {
    const { at, reason } = this.#failure ?? { at: Number.NEGATIVE_INFINITY, reason: undefined };
    return this.#isRecent(at) ? reason : undefined;
  }

  async #prepare(): Promise<ShownBearer | undefined> {
    await this.#reload();
    const grant = this.#grant;
    if (!grant || !this.#renewable(grant)) return this.#shown;
    const renewed = await this.#renew(grant);
    if (typeof renewed !== "string") return renewed;
    if (this.#grant && !isExpired(this.#grant, this.#now())) return this.#shown;
    throw new MetaMcpError("auth_required", renewed);
  }

  async #reload(): Promise<void> {
    const stamp = this.#store.stamp();
    if (stamp === this.#stamp) return;
    this.#apply({ loginData: await this.#store.read(), stamp });
  }

  #apply({ loginData, stamp }: StampedLoginData): void {
    const found = grantInUse(loginData, this.#url);
    const grant = found && this.#isOurs(found) ? found : undefined;
    this.#stamp = stamp;
    this.#grant = grant;
    const header = `Bearer ${grant?.accessToken}`;
    if (this.#shown?.header === header) return;
    this.#shown = grant && { header, holder: grant.id };
  }

  /** False for a login of another client than the configured one. */
  #isOurs({ client, configured }: Grant): boolean {
    const { clientId } = this.#oauth ?? {};
    return clientId === undefined ? !configured : clientId === client.client_id;
  }

  /** Runs one renewal at a time in this process; the lock does the same for all processes. */
  #renew(stale: Grant): Promise<ShownBearer | string> {
    this.#renewing ??= this.#renewNow(stale).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewNow(stale: Grant): Promise<ShownBearer | string> {
    if (stale.refreshToken === undefined) return "the login has expired";
    let reason = this.#recentFailure();
    if (reason !== undefined) return reason;
    try {
      const kept = await this.#store.update(async (before) => {
        const grant = grantInUse(before, this.#url);
        // Another process has renewed the token. Using a refresh token twice may end the login.
        if (!grant || grant.accessToken !== stale.accessToken || !grant.refreshToken) return before;
        const renewal = await renew(grant, this.#oauth, this.#now());
        if ("grant" in renewal) return withGrant(before, renewal.grant);
        reason = renewal.reason;
        if (renewal.over) return withGrant(before, { ...grant, refreshToken: undefined });
        this.#failure = { at: this.#now(), reason };
        return before;
      });
      this.#apply(kept);
    } catch (error) {
      reason = MetaMcpError.is(error)
        ? error.message
        : `the tokens could not be stored: ${(error as Error).message}`;
    }
    if (reason !== undefined) return reason;
    this.#failure = undefined;
    if (!this.#shown) return "it was logged out";
    return this.#grant?.accessToken === stale.accessToken ? "the login has ended" : this.#shown;
  }

  /** Stores the scopes for the next login, which runs in another process. */
  async #rememberScopes(missing: readonly string[]): Promise<string> {
    const noted = this.#store.update((loginData) => {
      const grant = grantInUse(loginData, this.#url);
      if (!grant || missing.every((scope) => grant.wanted?.includes(scope))) return loginData;
      // The newest scopes come first, and the number is limited, so that a server cannot fill the file.
      return withGrant(loginData, { ...grant, wanted: validScopes(union(missing, grant.wanted)) });
    });
    // If the scopes cannot be stored, the message still names them.
    await noted.catch(() => {});
    return `the login lacks a permission${missing.length > 0 ? `: it requires ${missing.join(" ")}` : ""}`;
  }
}

/**
 * Provides the bearer token for requests to one server. Renews it before it expires and notices changes by
 * other processes. Uses no timers, and writes tokens only to the store.
 */
import type { RemoteSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import {
  addressOf,
  type Grant,
  grantInUse,
  isDue,
  isExpired,
  type LoginData,
  union,
  useAccount,
  validScopes,
  withGrant,
} from "./grant.ts";
import { machineGrant } from "./machine-grant.ts";
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
  #spec: RemoteSpec;
  #grant: Grant | undefined;
  #shown: ShownBearer | undefined;
  #renewing: Promise<ShownBearer | string> | undefined;
  /** The last failed renewal, if it may succeed later. */
  #failure: { readonly at: number; readonly reason: string } | undefined;
  /** When the server refused a newly renewed token. */
  #newTokenRefusedAt = Number.NEGATIVE_INFINITY;

  /** `now` is the wall clock, because it is compared with times that other processes have written. */
  constructor(store: LoginDataStore, spec: RemoteSpec, now: () => number) {
    this.#store = store;
    this.#url = addressOf(spec.url);
    this.#spec = spec;
    this.#now = now;
  }

  /** Sets the config of the server, with the same address. Logins of another client id are not used. */
  configure(spec: RemoteSpec): void {
    const { oauth } = this.#spec;
    if (oauth?.clientId !== spec.oauth?.clientId || oauth?.grant !== spec.oauth?.grant)
      this.#stamp = undefined;
    if (oauth !== spec.oauth) this.#failure = undefined;
    this.#spec = spec;
  }

  /** MetaMCP gets tokens for itself. */
  get #isMachine(): boolean {
    return this.#spec.oauth?.grant !== undefined;
  }

  /** True if the stored tokens changed since they were last read. */
  get stale(): boolean {
    return this.#stamp !== undefined && this.#stamp !== this.#store.stamp();
  }

  current(): ShownBearer | undefined | Promise<ShownBearer | undefined> {
    const known = this.#stamp !== undefined && !this.stale;
    if (known && !this.#needsToken(this.#grant)) return this.#shown;
    return this.#prepare();
  }

  async replace(
    refused: ShownBearer,
    { missing }: { readonly missing: readonly string[] | undefined },
  ): Promise<ShownBearer | string> {
    await this.#reload();
    if (!this.#grant || !this.#shown)
      return this.#isMachine ? await this.#renew(undefined) : "it was logged out";
    if (this.#shown.header !== refused.header) return this.#shown;
    if (missing) return await this.#rememberScopes(missing);
    if (this.#isRecent(this.#newTokenRefusedAt)) return "it refuses even a new token";
    return await this.#renew(this.#grant);
  }

  replacementDenied(): void {
    this.#newTokenRefusedAt = this.#now();
  }

  #needsToken(grant: Grant | undefined): boolean {
    if (!grant) return this.#isMachine;
    if (!this.#isMachine && grant.refreshToken === undefined) return false;
    const due = isDue(grant, this.#now());
    return due && (this.#recentFailure() === undefined || isExpired(grant, this.#now()));
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
    if (!this.#needsToken(grant)) return this.#shown;
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
    const { clientId } = this.#spec.oauth ?? {};
    return clientId === undefined ? !configured : clientId === client.client_id;
  }

  /** Runs one renewal at a time in this process; the lock does the same for all processes. */
  #renew(stale: Grant | undefined): Promise<ShownBearer | string> {
    this.#renewing ??= this.#renewNow(stale).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewNow(stale: Grant | undefined): Promise<ShownBearer | string> {
    if (!this.#isMachine && stale?.refreshToken === undefined) return "the login has expired";
    let reason = this.#recentFailure();
    if (reason !== undefined) return reason;
    try {
      const kept = await this.#store.update(async (before) => {
        const grant = grantInUse(before, this.#url);
        if (this.#isMachine) return await this.#withMachineToken(before, grant, stale);
        // Another process has renewed the token. Using a refresh token twice may end the login.
        if (!grant || grant.accessToken !== stale?.accessToken || !grant.refreshToken) return before;
        const renewal = await renew(grant, this.#spec.oauth, this.#now());
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
    if (reason !== undefined) {
      if (this.#isMachine) this.#failure ??= { at: this.#now(), reason };
      return reason;
    }
    this.#failure = undefined;
    if (!this.#shown) return "it was logged out";
    return this.#grant?.accessToken === stale?.accessToken ? "the login has ended" : this.#shown;
  }

  /** One process asks; the others use its token. */
  async #withMachineToken(
    before: LoginData,
    grant: Grant | undefined,
    stale: Grant | undefined,
  ): Promise<LoginData> {
    const now = this.#now();
    const isNew = grant && this.#isOurs(grant) && grant.accessToken !== stale?.accessToken;
    if (isNew && !isExpired(grant, now)) return before;
    const got = await machineGrant(this.#spec, before, now);
    return useAccount(withGrant(before, got), got.url, got.account);
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

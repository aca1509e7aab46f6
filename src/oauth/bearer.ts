/**
 * The login of one server as its requests need it: shown, renewed ahead of its end, noticed when another process changes
 * it. Has no timers, and writes no token anywhere but into the store.
 */
import type { OAuthSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { type Grant, grantInUse, isDue, isExpired, soundScopes, union, withGrant } from "./grant.ts";
import { renew } from "./renew.ts";
import type { StampedBook, TokenBook } from "./store.ts";

export interface ShownBearer {
  readonly header: string;
  readonly holder: string;
}

/** So long an issuer that failed is left in peace, and a server that takes no token cannot have them renewed. */
const PAUSE_MS = 10_000;

export class Bearer {
  readonly #store: TokenBook;
  readonly #url: string;
  readonly #now: () => number;
  /** Of the file as it was last read; undefined: never. */
  #stamp: string | undefined;
  #oauth: OAuthSpec | undefined;
  #grant: Grant | undefined;
  #shown: ShownBearer | undefined;
  #renewing: Promise<ShownBearer | string> | undefined;
  /** The last renewal failed without being final. */
  #failure: { readonly at: number; readonly reason: string } | undefined;
  /** When even a token that was just renewed was not taken. */
  #inVainAt = Number.NEGATIVE_INFINITY;

  /** `now` is the time of day: what it is compared with was written by other processes. */
  constructor(store: TokenBook, url: string, now: () => number) {
    this.#store = store;
    this.#url = url;
    this.#now = now;
  }

  /** The settings in the config: another client has other logins. */
  configure(oauth: OAuthSpec | undefined): void {
    if (oauth?.clientId !== this.#oauth?.clientId) this.#stamp = undefined;
    this.#oauth = oauth;
  }

  /** Someone changed the tokens since they were last used. */
  get stale(): boolean {
    return this.#stamp !== undefined && this.#stamp !== this.#store.stamp();
  }

  current(): ShownBearer | undefined | Promise<ShownBearer | undefined> {
    const known = this.#stamp !== undefined && !this.stale;
    if (known && !(this.#grant && this.#renewable(this.#grant))) return this.#shown;
    return this.#prepare();
  }

  async instead(
    refused: ShownBearer,
    { missing }: { readonly missing: readonly string[] | undefined },
  ): Promise<ShownBearer | string> {
    await this.#look();
    if (!this.#grant || !this.#shown) return "it was logged out";
    if (this.#shown.header !== refused.header) return this.#shown;
    if (missing) return await this.#want(missing);
    if (this.#isRecent(this.#inVainAt)) return "it refuses even a new token";
    return await this.#renew(this.#grant);
  }

  inVain(): void {
    this.#inVainAt = this.#now();
  }

  #renewable(grant: Grant): boolean {
    return isDue(grant, this.#now()) && (this.#pause() === undefined || isExpired(grant, this.#now()));
  }

  /** Either way: clocks are set back, too. */
  #isRecent(time: number): boolean {
    return Math.abs(this.#now() - time) < PAUSE_MS;
  }

  #pause(): string | undefined {
    const { at, reason } = this.#failure ?? { at: Number.NEGATIVE_INFINITY, reason: undefined };
    return this.#isRecent(at) ? reason : undefined;
  }

  async #prepare(): Promise<ShownBearer | undefined> {
    await this.#look();
    const grant = this.#grant;
    if (!grant || !this.#renewable(grant)) return this.#shown;
    const renewed = await this.#renew(grant);
    if (typeof renewed !== "string") return renewed;
    if (this.#grant && !isExpired(this.#grant, this.#now())) return this.#shown;
    throw new MetaMcpError("auth_required", renewed);
  }

  async #look(): Promise<void> {
    const stamp = this.#store.stamp();
    if (stamp === this.#stamp) return;
    this.#take({ book: await this.#store.read(), stamp });
  }

  #take({ book, stamp }: StampedBook): void {
    const found = grantInUse(book, this.#url);
    const grant = found && this.#isOurs(found) ? found : undefined;
    this.#stamp = stamp;
    this.#grant = grant;
    const header = `Bearer ${grant?.accessToken}`;
    if (this.#shown?.header === header) return;
    this.#shown = grant && { header, holder: grant.id };
  }

  /** A login of another client than the one that is configured now. */
  #isOurs({ client, configured }: Grant): boolean {
    const { clientId } = this.#oauth ?? {};
    return clientId === undefined ? !configured : clientId === client.client_id;
  }

  /** One at a time in this process, and by the lock in all of them. */
  #renew(stale: Grant): Promise<ShownBearer | string> {
    this.#renewing ??= this.#renewNow(stale).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewNow(stale: Grant): Promise<ShownBearer | string> {
    if (stale.refreshToken === undefined) return "the login has expired";
    let reason = this.#pause();
    if (reason !== undefined) return reason;
    try {
      const kept = await this.#store.update(async (before) => {
        const grant = grantInUse(before, this.#url);
        // Another process was quicker: a refresh token that is used twice may cost the whole login.
        if (!grant || grant.accessToken !== stale.accessToken || !grant.refreshToken) return before;
        const renewal = await renew(grant, this.#oauth, this.#now());
        if ("grant" in renewal) return withGrant(before, renewal.grant);
        reason = renewal.reason;
        if (renewal.over) return withGrant(before, { ...grant, refreshToken: undefined });
        this.#failure = { at: this.#now(), reason };
        return before;
      });
      this.#take(kept);
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

  /** Remembered for the next login, which happens in another process. */
  async #want(missing: readonly string[]): Promise<string> {
    const noted = this.#store.update((book) => {
      const grant = grantInUse(book, this.#url);
      if (!grant || missing.every((scope) => grant.wanted?.includes(scope))) return book;
      // The last first: a server that wants something else each time must not fill the file.
      return withGrant(book, { ...grant, wanted: soundScopes(union(missing, grant.wanted)) });
    });
    // Whoever cannot be told by the next login can still be told now.
    await noted.catch(() => {});
    return `the login lacks a permission${missing.length > 0 ? `: it requires ${missing.join(" ")}` : ""}`;
  }
}

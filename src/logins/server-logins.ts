/** Logs accounts, and the gateway itself, in at remote servers: begun here, finished when the person is back, kept sealed in the store. */
import type { Account } from "../access/account.ts";
import { may } from "../access/may.ts";
import type { RemoteSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Events, LoginTried } from "../kernel/events.ts";
import type { Principal } from "../kernel/principal.ts";
import { addressOf } from "../oauth/authorizations.ts";
import { finishLogin, startLogin } from "../oauth/code-flow.ts";
import {
  type Book,
  DEFAULT_ACCOUNT,
  type Grant,
  grantInUse,
  isExpired,
  using,
  withGrant,
} from "../oauth/grant.ts";
import { findLoginTarget } from "../oauth/login-target.ts";
import { logOut } from "../oauth/logout.ts";
import { isFinal, loadSdk, shownError } from "../oauth/sdk.ts";
import type { Store } from "../store/store.ts";
import { type Begun, BegunLogins } from "./begun-logins.ts";
import { keptBook, opened } from "./kept-book.ts";
import { type LoginPlace, type LoginRecords, SHARED } from "./login-records.ts";
import { OwnClients } from "./own-clients.ts";

export interface ServerLoginsParts {
  readonly store: Pick<Store, "records" | "sealer">;
  readonly records: LoginRecords;
  /** The server as it is reached there, but for the login; undefined where nobody can log in. */
  readonly specOf: (place: LoginPlace) => RemoteSpec | undefined;
  /** Where issuers send people back to. */
  readonly callback: () => string;
  /** Where issuers can read who we are; undefined where they cannot reach us. */
  readonly document: () => string | undefined;
  readonly events: Pick<Events, "emit">;
}

/** Who logs in, and from where. */
export interface LoginBy {
  readonly principal: Principal;
  /** Whose browser must come back; undefined: an administrator's token has none. */
  readonly account: Account | undefined;
  readonly address: string;
}

export interface LoginState {
  readonly state: "none" | "active" | "expired";
  readonly issuer?: string;
  readonly scopes?: readonly string[];
  /** Scopes that the server wants besides: the next login asks for them. */
  readonly wanted?: readonly string[];
  readonly since?: string;
  readonly expiresAt?: string;
  /** A new token is fetched by itself. */
  readonly renews?: boolean;
}

export class ServerLogins {
  readonly #parts: ServerLoginsParts;
  readonly #begun: BegunLogins;
  readonly #clients: OwnClients;

  constructor(parts: ServerLoginsParts) {
    this.#parts = parts;
    this.#begun = new BegunLogins(parts.store);
    this.#clients = new OwnClients(parts.store);
  }

  /** Where the person has to go, and until when. Rejects with MetaMcpError. */
  async begin(
    place: LoginPlace,
    by: LoginBy,
    returnTo?: string,
  ): Promise<{ readonly url: string; readonly expiresAt: string }> {
    const spec = this.#spec(place);
    const sdk = await loadSdk();
    try {
      const target = await findLoginTarget(sdk, spec);
      const book: Book = { ...this.#book(place), registrations: await this.#clients.at(place.server) };
      const started = await startLogin(sdk, {
        spec: this.#asClient(spec),
        place: target,
        book,
        account: DEFAULT_ACCOUNT,
        redirectUri: this.#parts.callback(),
        now: Date.now(),
      });
      if (started.registered) await this.#clients.add(place.server, started.registered);
      const { server, account } = place;
      const expiresAt = await this.#begun.keep({
        server,
        account,
        by: by.account?.uuid,
        returnTo,
        login: started.begun,
      });
      return { url: started.address.href, expiresAt: new Date(expiresAt).toISOString() };
    } catch (error) {
      throw failed(spec, shownError(sdk, error));
    }
  }

  /** The person is back. Only the browser of who began it counts. Rejects with MetaMcpError. */
  async finish(
    answer: URLSearchParams,
    by: Omit<LoginBy, "principal"> & { readonly principal: Principal | undefined },
  ): Promise<LoginPlace & { readonly name: string; readonly returnTo: string | undefined }> {
    const state = answer.get("state") ?? "";
    const begun = state === "" ? undefined : await this.#begun.find(state);
    if (!begun || !mayFinish(begun, by))
      throw new MetaMcpError(
        "auth_required",
        "This login was started in another browser, or too long ago. Start it again.",
      );
    if (!(await this.#begun.take(state)))
      throw new MetaMcpError("auth_required", "This login is already complete.");
    const { server, account, returnTo, login } = begun;
    const place = { server, account };
    const spec = this.#spec(place);
    const tell = (outcome: "ok" | "refused"): void =>
      this.#tell({ uuid: server, name: spec.name }, outcome, by);
    const sdk = await loadSdk();
    try {
      if (addressOf(spec.url) !== login.grant.url)
        throw new MetaMcpError("auth_required", "the address of the server has changed");
      const said = (name: string): string | undefined => answer.get(name) ?? undefined;
      const grant = await finishLogin(
        sdk,
        { spec, begun: login, now: Date.now() },
        { code: said("code"), error: said("error"), iss: said("iss") },
      );
      await keptBook(this.#parts, place).update((book) =>
        using(withGrant(book, grant), grant.url, grant.account),
      );
      tell("ok");
      return { ...place, name: spec.name, returnTo };
    } catch (error) {
      tell("refused");
      if (isFinal(sdk, error)) await this.#clients.forget(server);
      throw failed(spec, shownError(sdk, error));
    }
  }

  /** Forgets the login, then tells its issuer. Undefined: there was none; else whether the issuer revoked the tokens too. */
  async logOut(place: LoginPlace): Promise<boolean | undefined> {
    const [grant] = this.#book(place).grants;
    if (!grant) return undefined;
    return await logOut(keptBook(this.#parts, place), grant, this.#parts.specOf(place)?.oauth);
  }

  /** For what is left after an account or a server has gone: at their issuers, where that is possible. */
  async revoke(places: readonly LoginPlace[]): Promise<void> {
    await Promise.all(places.map((place) => this.logOut(place).catch(() => false)));
  }

  stateAt(place: LoginPlace, now = Date.now()): LoginState {
    const spec = this.#parts.specOf(place);
    const grant = spec && grantInUse(this.#book(place), addressOf(spec.url));
    return grant ? shown(grant, now) : { state: "none" };
  }

  #book(place: LoginPlace): Book {
    const login = this.#parts.records.at(place);
    return login ? opened(this.#parts.store, login) : { version: 1, use: {}, grants: [], registrations: [] };
  }

  #spec(place: LoginPlace): RemoteSpec {
    const spec = this.#parts.specOf(place);
    if (spec) return spec;
    throw new MetaMcpError("auth_required", "This server has no login, or it is disabled.");
  }

  /** Issuers that take a document of ours need not register us. */
  #asClient(spec: RemoteSpec): RemoteSpec {
    const clientMetadataUrl = spec.oauth?.clientMetadataUrl ?? this.#parts.document();
    return clientMetadataUrl === undefined ? spec : { ...spec, oauth: { ...spec.oauth, clientMetadataUrl } };
  }

  #tell(
    server: LoginTried["server"] & object,
    outcome: LoginTried["outcome"],
    { principal, address }: { readonly principal: Principal | undefined; readonly address: string },
  ): void {
    const event = { type: "login", at: Date.now(), outcome, by: "server", server, address } as const;
    this.#parts.events.emit({ ...event, ...(principal && { principal }) });
  }
}

/** Whoever was sent somebody else's address must not give their own account there away. */
function mayFinish(
  { by: beganBy, account }: Begun,
  {
    account: back,
    principal,
  }: { readonly account: Account | undefined; readonly principal: Principal | undefined },
): boolean {
  if (beganBy !== undefined && beganBy !== back?.uuid) return false;
  // What all share is an administrator's, at the end too.
  return account !== SHARED || principal === undefined || may(principal, "servers.write");
}

function shown(grant: Grant, now: number): LoginState {
  const { issuer, scopes, wanted, obtainedAt, expiresAt, refreshToken } = grant;
  const over = isExpired(grant, now) && refreshToken === undefined;
  return {
    state: over ? "expired" : "active",
    issuer: issuer.issuer,
    scopes,
    ...(wanted?.length ? { wanted } : {}),
    since: new Date(obtainedAt).toISOString(),
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    renews: refreshToken !== undefined,
  };
}

function failed({ name }: RemoteSpec, reason: string): MetaMcpError {
  return new MetaMcpError("auth_required", `The login to ${name} failed: ${reason}.`, { server: name });
}

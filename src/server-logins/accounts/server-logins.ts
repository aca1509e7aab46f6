/** OAuth logins of accounts, and of the gateway itself, at remote servers. The tokens are stored sealed. */
import type { Account } from "../../access/account.ts";
import { may } from "../../access/may.ts";
import type { RemoteSpec } from "../../config/spec.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Events, LoginTried } from "../../kernel/events.ts";
import type { Principal } from "../../kernel/principal.ts";
import { resolveSecrets } from "../../secret-sources/resolve.ts";
import type { Store } from "../../store/store.ts";
import { finishLogin, startLogin } from "../code-flow.ts";
import {
  addressOf,
  DEFAULT_ACCOUNT,
  type Grant,
  grantInUse,
  isExpired,
  type LoginData,
  useAccount,
  withGrant,
} from "../grant.ts";
import { findLoginTarget } from "../login-target.ts";
import { logOut } from "../logout.ts";
import { isFinal, loadSdk, shownError } from "../sdk.ts";
import { ClientRegistrations } from "./client-registrations.ts";
import { loginDataStoreInDatabase, openLoginData } from "./login-data-store.ts";
import { type LoginKey, type LoginRecords, SHARED } from "./login-records.ts";
import type { LoginState } from "./login-state.ts";
import { type PendingLogin, PendingLogins } from "./pending-logins.ts";

export interface ServerLoginsParts {
  /** Tokens expire by its time, because any gateway on it may use them. */
  readonly store: Pick<Store, "records" | "sealer" | "now">;
  readonly records: LoginRecords;
  /** The server with the values of the account, without its login. Undefined if no login is possible. */
  readonly specOf: (key: LoginKey) => RemoteSpec | undefined;
  /** URL that issuers redirect to. */
  readonly callback: () => string;
  /** URL of the page that continues a login in a browser. */
  readonly linkPage: (ticket: string) => string;
  /** URL of our client metadata document. Undefined if issuers cannot reach the gateway. */
  readonly document: () => string | undefined;
  readonly events: Pick<Events, "emit">;
}

/** The caller who starts or finishes a login. */
export interface LoginBy {
  readonly principal: Principal;
  /**
   * The account whose browser must return. Undefined for the admin token and for keys, which no browser has.
   */
  readonly account: Account | undefined;
  readonly address: string;
  /** The id of the HTTP request in the access log. */
  readonly request?: string;
}

/** The browser that returns from the issuer. */
export interface Returning extends Omit<LoginBy, "principal"> {
  readonly principal: Principal | undefined;
  /** What `useLink` gave to this browser. */
  readonly proofs: readonly string[];
}

export class ServerLogins {
  readonly #parts: ServerLoginsParts;
  readonly #pending: PendingLogins;
  readonly #clients: ClientRegistrations;

  constructor(parts: ServerLoginsParts) {
    this.#parts = parts;
    this.#pending = new PendingLogins(parts.store);
    this.#clients = new ClientRegistrations(parts.store);
  }

  /** Starts a login. Returns the URL to open and when the login expires. Rejects with MetaMcpError. */
  async begin(
    key: LoginKey,
    by: LoginBy,
    returnTo?: string,
  ): Promise<{ readonly url: string; readonly expiresAt: string }> {
    const spec = await this.#spec(key);
    const sdk = await loadSdk();
    try {
      const target = await findLoginTarget(sdk, spec);
      const loginData: LoginData = {
        ...this.#loginData(key),
        registrations: await this.#clients.at(key.server),
      };
      const started = await startLogin(sdk, {
        spec: this.#asClient(spec),
        target,
        loginData,
        account: DEFAULT_ACCOUNT,
        redirectUri: this.#parts.callback(),
        now: this.#parts.store.now(),
      });
      if (started.registered) await this.#clients.add(key.server, started.registered);
      const { server, account } = key;
      const expiresAt = await this.#pending.add({
        server,
        account,
        by: by.account?.uuid,
        returnTo,
        login: started.begun,
      });
      const { href } = started.address;
      const link = { server: spec.name, url: href, state: started.begun.state };
      const url = by.account ? href : this.#parts.linkPage(await this.#pending.addLink(link));
      return { url, expiresAt: new Date(expiresAt).toISOString() };
    } catch (error) {
      throw failed(spec, shownError(sdk, error));
    }
  }

  /** The name of the server that a link belongs to. Undefined if the link is unknown, used or expired. */
  async linkedServer(ticket: string): Promise<string | undefined> {
    return (await this.#pending.findLink(ticket))?.server;
  }

  /** Uses a link. Returns where the browser has to go, and the proof that it must bring to `finish`. */
  async useLink(ticket: string): Promise<{ readonly url: string; readonly proof: string } | undefined> {
    const link = await this.#pending.findLink(ticket);
    if (!link || !(await this.#pending.takeLink(ticket))) return undefined;
    return { url: link.url, proof: this.#pending.proofOf(link.state) };
  }

  /**
   * Finishes a login in the callback. Accepts only the browser that started it. Rejects with MetaMcpError.
   */
  async finish(
    answer: URLSearchParams,
    by: Returning,
  ): Promise<LoginKey & { readonly name: string; readonly returnTo: string | undefined }> {
    const state = answer.get("state") ?? "";
    const pending = state === "" ? undefined : await this.#pending.find(state);
    const proven = by.proofs.includes(this.#pending.proofOf(state));
    if (!pending || !mayFinish(pending, by, proven))
      throw new MetaMcpError(
        "auth_required",
        "This login was started in another browser, or too long ago. Start it again.",
      );
    if (!(await this.#pending.take(state)))
      throw new MetaMcpError("auth_required", "This login is already complete.");
    const { server, account, returnTo, login } = pending;
    const key = { server, account };
    const spec = await this.#spec(key);
    const emit = (outcome: "ok" | "refused"): void =>
      this.#emit({ uuid: server, name: spec.name }, outcome, by);
    const sdk = await loadSdk();
    try {
      if (addressOf(spec.url) !== login.grant.url)
        throw new MetaMcpError("auth_required", "the address of the server has changed");
      const param = (name: string): string | undefined => answer.get(name) ?? undefined;
      const grant = await finishLogin(
        sdk,
        { spec, begun: login, now: this.#parts.store.now() },
        { code: param("code"), error: param("error"), iss: param("iss") },
      );
      await loginDataStoreInDatabase(this.#parts, key).update((loginData) =>
        useAccount(withGrant(loginData, grant), grant.url, grant.account),
      );
      emit("ok");
      return { ...key, name: spec.name, returnTo };
    } catch (error) {
      emit("refused");
      if (isFinal(sdk, error)) await this.#clients.forget(server);
      throw failed(spec, shownError(sdk, error));
    }
  }

  /**
   * Deletes the login, then revokes its tokens at the issuer. Returns whether the issuer revoked them;
   * undefined if there was no login.
   */
  async logOut(key: LoginKey): Promise<boolean | undefined> {
    const [grant] = this.#loginData(key).grants;
    if (!grant) return undefined;
    return await logOut(
      loginDataStoreInDatabase(this.#parts, key),
      grant,
      (await this.#spec(key).catch(() => undefined))?.oauth,
    );
  }

  /** Ends the logins of a deleted account or server, and revokes them at the issuers if possible. */
  async revoke(keys: readonly LoginKey[]): Promise<void> {
    await Promise.all(keys.map((key) => this.logOut(key).catch(() => false)));
  }

  stateAt(key: LoginKey, now = this.#parts.store.now()): LoginState {
    const spec = this.#parts.specOf(key);
    const grant = spec && grantInUse(this.#loginData(key), addressOf(spec.url));
    return grant ? shown(grant, now) : { state: "none" };
  }

  #loginData(key: LoginKey): LoginData {
    const login = this.#parts.records.at(key);
    return login
      ? openLoginData(this.#parts.store, login)
      : { version: 1, use: {}, grants: [], registrations: [] };
  }

  async #spec(key: LoginKey): Promise<RemoteSpec> {
    const spec = this.#parts.specOf(key);
    if (spec)
      return await resolveSecrets(spec).catch(({ message }: Error) => {
        throw new MetaMcpError("server_unavailable", `${spec.name} has no login: ${message}.`);
      });
    throw new MetaMcpError("auth_required", "This server has no login, or it is disabled.");
  }

  /** Adds our client metadata document, so that issuers that support it need no registration. */
  #asClient(spec: RemoteSpec): RemoteSpec {
    const clientMetadataUrl = spec.oauth?.clientMetadataUrl ?? this.#parts.document();
    return clientMetadataUrl === undefined ? spec : { ...spec, oauth: { ...spec.oauth, clientMetadataUrl } };
  }

  #emit(
    server: LoginTried["server"] & object,
    outcome: LoginTried["outcome"],
    { principal, address, request }: Pick<Returning, "principal" | "address" | "request">,
  ): void {
    const event = { type: "login", at: Date.now(), outcome, by: "server", server, address } as const;
    this.#parts.events.emit({
      ...event,
      ...(principal && { principal }),
      ...(request === undefined ? {} : { request }),
    });
  }
}

/** A user who was tricked into opening the URL of another login must not connect their own account to it. */
function mayFinish(
  { by: startedBy, account }: PendingLogin,
  { account: returning, principal }: Returning,
  proven: boolean,
): boolean {
  if (startedBy === undefined ? !proven : startedBy !== returning?.uuid) return false;
  // A shared login needs the right of an administrator at the end too.
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

/** What people see and do about logins at servers: their own, and as administrators those that all share. */
import type { Account } from "../access/account.ts";
import type { ServerSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { CallerCredentials } from "./caller-credentials.ts";
import { SHARED } from "./login-records.ts";
import type { LoginBy, LoginState, ServerLogins } from "./server-logins.ts";

/** One server that lets an account in as itself. */
export interface OwnServer {
  /** Uuid. */
  readonly server: string;
  readonly name: string;
  /** "login": after a login there; "values": by what it is told of the account. */
  readonly needs: "login" | "values";
  /** Calls can be made. */
  readonly ready: boolean;
  readonly login?: LoginState;
  /** Names of secrets that are missing. */
  readonly missing?: readonly string[];
  readonly reason?: string;
  /** The page that asks for what is missing. */
  readonly page: string;
}

export interface ControlParts {
  readonly callers: CallerCredentials;
  readonly servers: ServerLogins;
  /** Servers that let this account in as itself, among those that it may use. */
  readonly ownServers: (account: Account) => readonly ServerSpec[];
  readonly sharedServer: (server: string) => ServerSpec | undefined;
  readonly page: (server: string, account: string) => string;
}

export type LoginStart = { readonly url: string; readonly expiresAt: string };

export class LoginControl {
  readonly #parts: ControlParts;

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  list(account: Account): readonly OwnServer[] {
    return this.#parts.ownServers(account).map((spec) => this.#shown(spec, account));
  }

  /** By uuid or name; undefined where there is no such server for this account. */
  find(account: Account, reference: string): OwnServer | undefined {
    const found = this.list(account);
    return (
      found.find(({ server }) => server === reference.toLowerCase()) ??
      found.find(({ name }) => name === reference)
    );
  }

  async begin(
    own: OwnServer,
    by: LoginBy & { readonly account: Account },
    returnTo?: string,
  ): Promise<LoginStart> {
    return await this.#parts.servers.begin({ server: own.server, account: by.account.uuid }, by, returnTo);
  }

  /** False: there was no login. */
  async end(own: OwnServer, account: Account): Promise<boolean> {
    return (await this.#parts.servers.logOut({ server: own.server, account: account.uuid })) !== undefined;
  }

  /** Of a server that all share; undefined where nobody logs in there. */
  shared(server: string): LoginState | undefined {
    return this.#parts.sharedServer(server) && this.#parts.servers.stateAt({ server, account: SHARED });
  }

  async beginShared(server: string, by: LoginBy, returnTo?: string): Promise<LoginStart> {
    return await this.#parts.servers.begin({ server, account: SHARED }, by, returnTo);
  }

  async endShared(server: string): Promise<boolean> {
    return (await this.#parts.servers.logOut({ server, account: SHARED })) !== undefined;
  }

  #shown(spec: ServerSpec, { uuid }: Account): OwnServer {
    const { callers, servers, page } = this.#parts;
    const server = spec.id ?? spec.name;
    const outcome = callers.of(spec, uuid);
    const { secrets, other } = callers.lacking(spec, uuid);
    const needs = spec.perAccount ?? "values";
    return {
      server,
      name: spec.name,
      needs,
      ready: !MetaMcpError.is(outcome),
      ...(needs === "login" && { login: servers.stateAt({ server, account: uuid }) }),
      ...(secrets.length > 0 && { missing: secrets }),
      ...(other.length > 0 && { reason: other.join("; ") }),
      page: page(server, uuid),
    };
  }
}

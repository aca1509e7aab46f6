/** Logins at servers for the admin API: those of an account, and the shared ones of administrators. */
import type { Account } from "../../access/account.ts";
import type { ServerSpec } from "../../config/spec.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { CallerCredentials } from "./caller-credentials.ts";
import { SHARED } from "./login-records.ts";
import type { LoginAddress, LoginState, OwnServer } from "./login-state.ts";
import type { LoginBy, ServerLogins } from "./server-logins.ts";

export interface ControlParts {
  readonly callers: CallerCredentials;
  readonly servers: ServerLogins;
  /** Servers with per-account access that this account may use. */
  readonly ownServers: (account: Account) => readonly ServerSpec[];
  readonly sharedServer: (server: string) => ServerSpec | undefined;
  readonly page: (server: string, account: string) => string;
}

export class LoginControl {
  readonly #parts: ControlParts;

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  list(account: Account): readonly OwnServer[] {
    return this.#parts.ownServers(account).map((spec) => this.#shown(spec, account));
  }

  /** Finds a server by uuid or name. Undefined if the account has no such server. */
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
  ): Promise<LoginAddress> {
    return await this.#parts.servers.begin({ server: own.server, account: by.account.uuid }, by, returnTo);
  }

  /** Returns false if there was no login. */
  async end(own: OwnServer, account: Account): Promise<boolean> {
    return (await this.#parts.servers.logOut({ server: own.server, account: account.uuid })) !== undefined;
  }

  /** The shared login of a server. Undefined if the server has none. */
  shared(server: string): LoginState | undefined {
    return this.#parts.sharedServer(server) && this.#parts.servers.stateAt({ server, account: SHARED });
  }

  async beginShared(server: string, by: LoginBy, returnTo?: string): Promise<LoginAddress> {
    return await this.#parts.servers.begin({ server, account: SHARED }, by, returnTo);
  }

  async endShared(server: string): Promise<boolean> {
    return (await this.#parts.servers.logOut({ server, account: SHARED })) !== undefined;
  }

  #shown(spec: ServerSpec, { uuid }: Account): OwnServer {
    const { callers, servers, page } = this.#parts;
    const server = spec.id ?? spec.name;
    const outcome = callers.of(spec, uuid);
    const { secrets, other } = callers.missing(spec, uuid);
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

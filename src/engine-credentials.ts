/** The credentials of a gateway for its engine: those of accounts at servers, and shared logins. */
import type { CallerCredentials } from "./child/account-children.ts";
import type { HowToLogIn } from "./child/explain.ts";
import type { ServerSpec } from "./config/spec.ts";
import type { LoginDataStoreOf } from "./oauth/authorizations.ts";
import type { OwnLogin } from "./surface/scope.ts";

export interface EngineCredentials extends CallerCredentials {
  readonly howToLogIn: HowToLogIn;
  /** The storage of logins at remote servers. */
  readonly logins: LoginDataStoreOf;
  /** The login of this account at a server with credentials per account. */
  login(spec: ServerSpec, account: string): OwnLogin;
}

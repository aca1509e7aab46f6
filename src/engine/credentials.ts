/** The credentials of a gateway for its engine: those of accounts at servers, and shared logins. */

import type { HowToLogIn } from "../child/failure-text.ts";
import type { CallerCredentials } from "../child/unused-status.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { LoginDataStoreOf } from "../server-logins/authorizations.ts";
import type { AccountLogin } from "../surface/scope.ts";

export interface EngineCredentials extends CallerCredentials {
  readonly howToLogIn: HowToLogIn;
  /** The storage of logins at remote servers. */
  readonly logins: LoginDataStoreOf;
  /** The time by which their tokens expire, in milliseconds since 1970: the same at all gateways. */
  readonly now: () => number;
  /** The login of this account at a server with credentials per account. */
  login(spec: ServerSpec, account: string): AccountLogin;
}

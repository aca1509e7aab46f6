/** What an engine is told about logins at servers, where it is that of a gateway: those of its accounts, and its own. */
import type { HowToLogIn } from "./child/explain.ts";
import type { CallerCredentials } from "./child/account-children.ts";
import type { ServerSpec } from "./config/spec.ts";
import type { KeepLogins } from "./oauth/authorizations.ts";
import type { OwnLogin } from "./surface/scope.ts";

export interface EngineCredentials extends CallerCredentials {
  readonly howToLogIn: HowToLogIn;
  /** Where logins at remote servers are kept. */
  readonly logins: KeepLogins;
  /** Where this account logs in at a server that lets it in as itself. */
  login(spec: ServerSpec, account: string): OwnLogin;
}

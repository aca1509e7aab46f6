/** The dependencies of the authorization server. */
import type { IncomingMessage } from "node:http";
import type { Account, AccountDirectory } from "../access/account.ts";
import type { KeyRing } from "../access/key-ring.ts";
import type { Events } from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";
import type { Logins } from "../pages/password-form.ts";
import type { Store } from "../store/store.ts";
import type { Grants } from "./grants.ts";
import type { RecordId } from "./record-id.ts";
import type { SigningKey } from "./signing-key.ts";

export interface AuthorizationParts {
  /**
   * The URL of the gateway for clients, without a trailing slash. It is the issuer, independent of Host
   * headers.
   */
  readonly base: () => string;
  readonly store: Pick<Store, "records" | "sealer" | "now"> & Partial<Pick<Store, "tries">>;
  readonly key: SigningKey;
  readonly idOf: RecordId;
  readonly grants: Grants;
  readonly accounts: Pick<AccountDirectory, "byId" | "withPassword" | "takesPasswords">;
  /** Clients that get tokens for themselves. */
  readonly machines: Pick<KeyRing, "machineOf" | "isSecretOf">;
  readonly logins: Logins;
  /**
   * False for endpoints whose `oauth` is off. True for all other names, so that callers cannot find out which
   * endpoints exist.
   */
  readonly allowsOAuth: (endpoint: string) => boolean;
  readonly mayUse: (endpoint: string, account: Account) => boolean;
  /** Uuid of the endpoint with this name, also of a disabled one. */
  readonly endpointId: (endpoint: string) => string | undefined;
  /** Whether dynamic client registration is on. */
  readonly registers: () => boolean;
  /** Network address of the client. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** URL for login with the organisation, which then redirects to `returnTo`. */
  readonly sso?: ((returnTo: string) => string) | undefined;
  /** Asks the identity provider about an account again, before it gets new tokens. */
  readonly recheck?: ((account: string) => Promise<void>) | undefined;
  /** Fetches URLs that clients name. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Gets an event for each login and consent. */
  readonly events?: Pick<Events, "emit"> | undefined;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

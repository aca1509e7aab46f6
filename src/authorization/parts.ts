/** What the authorization server is made of. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Account, AccountDirectory } from "../access/account.ts";
import type { Events } from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";
import type { Store } from "../store/store.ts";
import type { Grants } from "./grants.ts";
import type { RecordId } from "./record-id.ts";
import type { SigningKey } from "./signing-key.ts";

/** Cookies of people who are logged in at the console: the only login there is. */
export interface Logins {
  of(headers: IncomingHttpHeaders): Account | undefined;
  /** The value of `Set-Cookie`. */
  begin(account: Account, headers: IncomingHttpHeaders): Promise<string>;
  /** Whether the page that sent a form is one of ours. */
  isOwnPage(headers: IncomingHttpHeaders): boolean;
}

export interface AuthorizationParts {
  /** How clients reach us, without a slash at the end. It is the issuer, whatever requests say their Host is. */
  readonly base: () => string;
  readonly store: Pick<Store, "records" | "sealer">;
  readonly key: SigningKey;
  readonly idOf: RecordId;
  readonly grants: Grants;
  readonly accounts: Pick<AccountDirectory, "byId" | "withPassword">;
  readonly logins: Logins;
  /** False for names of endpoints whose `oauth` is off, true for all others: which there are is not told. */
  readonly isOffered: (endpoint: string) => boolean;
  readonly mayUse: (endpoint: string, account: Account) => boolean;
  /** Whether clients may register themselves. */
  readonly registers: () => boolean;
  /** Where a request comes from. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Where people log in with their organisation, and come back to `returnTo`. */
  readonly sso?: ((returnTo: string) => string) | undefined;
  /** Fetches what clients name. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Hears of logins and of what people allow. */
  readonly events?: Pick<Events, "emit"> | undefined;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

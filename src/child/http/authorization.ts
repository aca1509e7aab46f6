/** The interface through which links get credentials for a server. Its implementation stores the secrets. */
import type { RemoteSpec } from "../../config/spec.ts";

export interface Credential {
  /** The value of the `Authorization` header. */
  readonly header: string;
  /** Identifies the login. A session begun with one login must not be continued with another. */
  readonly holder: string;
}

/** The server denied a credential. */
export interface Denial {
  /** The scopes that the credential lacks; undefined if the credential is not accepted at all. */
  readonly missing: readonly string[] | undefined;
}

export interface Authorization {
  /**
   * The credential for the next request; undefined if none is needed. Rejects if one is needed and not
   * available.
   */
  current(): Credential | undefined | Promise<Credential | undefined>;
  /** A replacement for a denied credential, or the reason why there is none. Called once per request. */
  replace(refused: Credential, denial: Denial): Promise<Credential | string>;
  /** The replacement was denied too. */
  replacementDenied(): void;
}

/** Returns undefined for servers with their own configured credentials. */
export type Authorize = (spec: RemoteSpec) => Authorization | undefined;

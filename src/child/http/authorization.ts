/** What is shown to a server so that it lets us in: the interface that links need. Who provides it keeps the secrets. */
import type { RemoteSpec } from "../../config/spec.ts";

export interface Credential {
  /** The value of the `Authorization` header. */
  readonly header: string;
  /** Whom it stands for: what was begun as one must not be continued as another. */
  readonly holder: string;
}

/** The server did not take a credential. */
export interface Denial {
  /** It is good, but not for this: these scopes are missing. Undefined: it is not good at all. */
  readonly missing: readonly string[] | undefined;
}

export interface Authorization {
  /** What to show with the next request; undefined: nothing. Rejects where something must be shown and cannot be got. */
  current(): Credential | undefined | Promise<Credential | undefined>;
  /** Another credential instead of the one that was not taken, or why there is none. Asked once per request. */
  instead(refused: Credential, denial: Denial): Promise<Credential | string>;
  /** What came instead was not taken either. */
  inVain(): void;
}

/** Undefined for servers that bring their own credentials. */
export type Authorize = (spec: RemoteSpec) => Authorization | undefined;

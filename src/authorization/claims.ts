/** The claims of a verified token. Whether the token gives access is decided at each use. */

export interface Claims {
  /** Undefined for a token of this gateway. */
  readonly issuer?: string;
  readonly subject: string;
  readonly audience: readonly string[];
  readonly scopes: readonly string[];
  /** The OAuth client that got the token. */
  readonly client: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Id of the grant, for a token of this gateway for an account. Revoking the grant revokes the token. */
  readonly grant?: string;
  /** A token of this gateway for a machine client. The subject is the client. */
  readonly machine?: true;
  /** Uuid of the endpoint, for a token of this gateway. */
  readonly endpoint?: string;
  /** For a token of an external issuer, if `groupsClaim` is configured. */
  readonly groups?: readonly string[];
  readonly email?: string;
  readonly emailVerified?: boolean;
}

/** Reads the claims of a payload. Undefined if a required claim is missing. */
export function claimsOf(
  payload: Readonly<Record<string, unknown>>,
  { issuer, groupsClaim }: { readonly issuer?: string; readonly groupsClaim?: string | undefined },
): Claims | undefined {
  const { sub, exp, aud, scope, scp, client_id, azp, gid, eid, machine, email } = payload;
  if (typeof sub !== "string" || sub === "" || typeof exp !== "number") return undefined;
  const client = [client_id, azp].find((id) => typeof id === "string" && id !== "") ?? issuer;
  if (client === undefined) return undefined;
  const common = {
    subject: sub,
    audience: wordsIn(aud),
    // Some issuers write scopes as a list, or in the claim `scp`.
    scopes: wordsIn(scope ?? scp),
    client: client as string,
    expiresAt: exp * 1_000,
  };
  if (issuer === undefined) {
    if (typeof eid !== "string") return undefined;
    // A machine needs no grant: nobody consents, and removing the client ends its tokens.
    if (machine === true) return sub === client ? { ...common, endpoint: eid, machine } : undefined;
    return typeof gid === "string" ? { ...common, endpoint: eid, grant: gid } : undefined;
  }
  return {
    ...common,
    issuer,
    ...(groupsClaim === undefined ? {} : { groups: stringsIn(payload[groupsClaim]) }),
    ...(typeof email === "string" ? { email, emailVerified: payload["email_verified"] === true } : {}),
  };
}

function wordsIn(value: unknown): readonly string[] {
  return typeof value === "string" ? value.split(" ").filter(Boolean) : stringsIn(value);
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}

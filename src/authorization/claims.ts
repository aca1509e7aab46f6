/** What a token says once its signature was checked. Whether it opens anything is decided at each use. */

export interface Claims {
  /** Undefined: a token of our own. */
  readonly issuer?: string;
  readonly subject: string;
  readonly audience: readonly string[];
  readonly scopes: readonly string[];
  /** The OAuth client that it was given to. */
  readonly client: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Of our own: what revokes it. */
  readonly grant?: string;
  /** Of an outside issuer, where it is configured to tell. */
  readonly groups?: readonly string[];
  readonly email?: string;
  readonly emailVerified?: boolean;
}

/** A payload with every claim that we must have; undefined for any other. */
export function claimsOf(
  payload: Readonly<Record<string, unknown>>,
  { issuer, groupsClaim }: { readonly issuer?: string; readonly groupsClaim?: string | undefined },
): Claims | undefined {
  const { sub, exp, aud, scope, scp, client_id, azp, gid, email } = payload;
  if (typeof sub !== "string" || sub === "" || typeof exp !== "number") return undefined;
  const client = [client_id, azp].find((id) => typeof id === "string" && id !== "") ?? issuer;
  if (client === undefined) return undefined;
  const common = {
    subject: sub,
    audience: texts(aud),
    // Some issuers write the scopes as a list, or under another name.
    scopes: texts(scope ?? scp),
    client: client as string,
    expiresAt: exp * 1_000,
  };
  if (issuer === undefined) return typeof gid === "string" ? { ...common, grant: gid } : undefined;
  return {
    ...common,
    issuer,
    ...(groupsClaim === undefined ? {} : { groups: listed(payload[groupsClaim]) }),
    ...(typeof email === "string" ? { email, emailVerified: payload["email_verified"] === true } : {}),
  };
}

function texts(value: unknown): readonly string[] {
  return typeof value === "string" ? value.split(" ").filter(Boolean) : listed(value);
}

function listed(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}

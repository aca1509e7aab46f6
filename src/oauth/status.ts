/** Who is logged in at a server, for people and programs. Holds no token. */
import { hasOwnCredential } from "../config/own-credential.ts";
import type { RemoteSpec } from "../config/spec.ts";
import { addressOf } from "./authorizations.ts";
import { type Grant, isExpired } from "./grant.ts";
import type { TokenStore } from "./store.ts";

export interface LoginStatus {
  readonly server: string;
  readonly account?: string;
  readonly inUse?: boolean;
  /** In words. */
  readonly state: string;
  /** Calls can be made with it, as far as is known here. */
  readonly usable: boolean;
  readonly issuer?: string;
  readonly scopes?: readonly string[];
  /** Scopes the server wants besides; the next login asks for them. */
  readonly wanted?: readonly string[];
  readonly expires?: string;
  /** A new token is fetched by itself when this one expires. */
  readonly renews?: boolean;
}

export async function loginsAt(
  spec: RemoteSpec,
  store: TokenStore,
  now: number,
): Promise<readonly LoginStatus[]> {
  const server = spec.name;
  if (hasOwnCredential(spec))
    return [{ server, usable: true, state: "uses the Authorization header in the config" }];
  const url = addressOf(spec.url);
  try {
    const { grants, use } = await store.read();
    const logins = grants
      .filter((grant) => grant.url === url)
      .map((grant) => statusOf(server, grant, { inUse: use[url] === grant.account, now }));
    return logins.length > 0 ? logins : [{ server, usable: false, state: "not logged in" }];
  } catch (error) {
    return [{ server, usable: false, state: (error as Error).message }];
  }
}

function statusOf(
  server: string,
  grant: Grant,
  { inUse, now }: { inUse: boolean; now: number },
): LoginStatus {
  const { account, issuer, scopes, wanted, expiresAt, refreshToken } = grant;
  const expired = isExpired(grant, now);
  return {
    server,
    account,
    inUse,
    usable: !expired || refreshToken !== undefined,
    state: inWords(grant, expired),
    issuer: issuer.issuer,
    scopes,
    renews: refreshToken !== undefined,
    ...(wanted?.length ? { wanted } : {}),
    ...(expiresAt === undefined ? {} : { expires: new Date(expiresAt).toISOString() }),
  };
}

function inWords({ refreshToken, wanted }: Grant, expired: boolean): string {
  if (expired && refreshToken === undefined) return "expired: log in again";
  const more = wanted?.length ? `; the server also requires ${wanted.join(" ")}: log in again` : "";
  return `logged in${refreshToken === undefined ? ", cannot be renewed" : ""}${more}`;
}

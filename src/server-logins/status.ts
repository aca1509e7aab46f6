/** The state of the logins at a server, for output. Contains no tokens. */
import { hasEntryCredential } from "../config/entry-credential.ts";
import type { RemoteSpec } from "../config/spec.ts";
import { addressOf, type Grant, isExpired } from "./grant.ts";
import type { TokenStore } from "./store.ts";

export interface LoginStatus {
  readonly server: string;
  readonly account?: string;
  readonly inUse?: boolean;
  /** A text for users. */
  readonly state: string;
  /** True if calls should work. The server is not asked. */
  readonly usable: boolean;
  readonly issuer?: string;
  readonly scopes?: readonly string[];
  /** Further scopes that the server requires; the next login requests them. */
  readonly wanted?: readonly string[];
  readonly expires?: string;
  /** True if the token is renewed automatically. */
  readonly renews?: boolean;
}

export async function loginsAt(
  spec: RemoteSpec,
  store: TokenStore,
  now: number,
): Promise<readonly LoginStatus[]> {
  const server = spec.name;
  if (hasEntryCredential(spec))
    return [{ server, usable: true, state: "uses the Authorization header in the config" }];
  const url = addressOf(spec.url);
  try {
    const { grants, use } = await store.read();
    const logins = grants
      .filter((grant) => grant.url === url)
      .map((grant) => statusOf(server, grant, { inUse: use[url] === grant.account, now }));
    if (spec.oauth?.grant)
      return [
        machineStatus(
          server,
          grants.find((grant) => grant.url === url),
          now,
        ),
      ];
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
    state: stateText(grant, expired),
    issuer: issuer.issuer,
    scopes,
    renews: refreshToken !== undefined,
    ...(wanted?.length ? { wanted } : {}),
    ...(expiresAt === undefined ? {} : { expires: new Date(expiresAt).toISOString() }),
  };
}

/** MetaMCP gets tokens for itself, so there is always a next one. */
function machineStatus(server: string, grant: Grant | undefined, now: number): LoginStatus {
  if (!grant) return { server, usable: true, state: "MetaMCP gets a token for itself when it needs one" };
  const expired = isExpired(grant, now);
  return {
    ...statusOf(server, grant, { inUse: true, now }),
    usable: true,
    state: `MetaMCP gets tokens for itself; ${expired ? "the last one has expired" : "it has one"}`,
    renews: true,
  };
}

function stateText({ refreshToken, wanted }: Grant, expired: boolean): string {
  if (expired && refreshToken === undefined) return "expired: log in again";
  const more = wanted?.length ? `; the server also requires ${wanted.join(" ")}: log in again` : "";
  return `logged in${refreshToken === undefined ? ", cannot be renewed" : ""}${more}`;
}

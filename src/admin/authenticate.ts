/**
 * Authenticates callers of the admin API: by the admin token, an API key with a role, or the cookie of a
 * console session.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Access } from "../access/access.ts";
import { type Account, accountPrincipal } from "../access/account.ts";
import { credentialOf } from "../access/credential.ts";
import { credentialKind, type RefusedCredentials } from "../access/refused-credentials.ts";
import type { Principal } from "../kernel/principal.ts";

export interface Authenticated {
  readonly principal: Principal;
  /** The account of the session or of the key, if there is one. */
  readonly account?: Account | undefined;
  /** Authenticated by a cookie, which a browser also sends for pages of other origins. */
  readonly cookie?: true;
}

const ADMIN: Principal = {
  id: "admin-token",
  kind: "token",
  name: "admin token",
  roles: ["admin"],
  groups: [],
};

export type Authenticate = (request: IncomingMessage) => Authenticated | undefined;

/** A request with an invalid credential is not authenticated, even if it also has a valid cookie. */
export function authenticator(access: Pick<Access, "adminToken" | "keys" | "sessions">): Authenticate {
  const { adminToken, keys, sessions } = access;
  const adminDigest = adminToken ? digest(adminToken) : undefined;
  return (request) => {
    const credential = credentialOf(request);
    if (credential === undefined) {
      const account = sessions.of(request.headers);
      return account && { principal: accountPrincipal(account), account, cookie: true };
    }
    // Digests have the same length, so the comparison does not reveal the length of the token.
    if (adminDigest && timingSafeEqual(adminDigest, digest(credential))) return { principal: ADMIN };
    const holder = keys.holderOf(credential);
    return holder?.role && { principal: holder.principal, account: holder.account };
  };
}

/**
 * Counts the credential of a request that was refused with 401. Returns the seconds to wait if there were too
 * many.
 */
export function credentialCounter(
  { sessions }: Pick<Access, "sessions">,
  refused: RefusedCredentials,
): (request: IncomingMessage) => number | undefined | Promise<number | undefined> {
  return (request) => {
    if (credentialOf(request) !== undefined)
      return refused.limitAtAll(request, { by: credentialKind(request) });
    if (sessions.isShown(request.headers)) refused.count(request, { by: "cookie" });
    return undefined;
  };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

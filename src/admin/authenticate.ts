/** Who asks the admin API: an administrator's token, a key with a role, or the cookie of somebody who is logged in. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Access } from "../access/access.ts";
import { type Account, accountPrincipal } from "../access/account.ts";
import { credentialOf } from "../access/credential.ts";
import type { Actor } from "../gateway/control.ts";
import type { Principal } from "../kernel/principal.ts";

export interface Authenticated {
  readonly principal: Principal;
  /** Of whoever came as one. */
  readonly account?: Account | undefined;
  /** A browser sends it by itself, whichever page asks it to. */
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

/** Whoever shows a credential that does not count is nobody, also with a good cookie beside it. */
export function authenticator(access: Pick<Access, "adminToken" | "keys" | "sessions">): Authenticate {
  const { adminToken, keys, sessions } = access;
  const known = adminToken ? digest(adminToken) : undefined;
  return (request) => {
    const shown = credentialOf(request);
    if (shown === undefined) {
      const account = sessions.of(request.headers);
      return account && { principal: accountPrincipal(account), account, cookie: true };
    }
    // Digests have one length, so the comparison tells nothing of the token's.
    if (known && timingSafeEqual(known, digest(shown))) return { principal: ADMIN };
    const holder = keys.holderOf(shown);
    return holder?.role && { principal: holder.principal, account: holder.account };
  };
}

/** As it stands in revisions. */
export function actorOf({ kind, id, name = id }: Principal): Actor {
  return { kind, id, name };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Decides as whom an endpoint is viewed or tried, and whether that account or key could use it. */
import { type Account, emailKey, livePrincipal } from "../../access/account.ts";
import { isAllowed } from "../../access/allow.ts";
import type { KnownKey } from "../../access/key-ring.ts";
import { may } from "../../access/may.ts";
import type { CompiledEndpoint } from "../../gateway/compile.ts";
import type { StoredObject } from "../../gateway/objects.ts";
import { ANONYMOUS, actorOf, type Principal } from "../../kernel/principal.ts";
import { Problem } from "../problem.ts";
import type { AdminRequest, AtObject } from "../route.ts";
import { objectAt, unknownObject } from "./objects.ts";
import type { AdminParts } from "./parts.ts";

export const AS = {
  as: {
    type: "string",
    description: "uuid or e-mail address of an account, key:NAME or key:UUID; default: the caller",
  },
} as const;

const KEY_PREFIX = "key:";

/** The account or key that an endpoint is viewed or tried as. */
export interface User {
  readonly principal: Principal;
  /** Undefined for a token, or a key without owner. */
  readonly account: Account | undefined;
  /** The key, if it is used instead of a login. */
  readonly key?: KnownKey;
}

export type Caller = Pick<AdminRequest, "principal" | "account">;

/** `as` is an account, or `key:` and a key. Default: the caller. Only administrators may act as others. */
export function userOf(parts: Pick<AdminParts, "access">, caller: Caller, as: string | undefined): User {
  return as?.startsWith(KEY_PREFIX)
    ? keyUser(parts, caller, as.slice(KEY_PREFIX.length))
    : accountUser(parts, caller, as);
}

function keyUser({ access }: Pick<AdminParts, "access">, { principal }: Caller, reference: string): User {
  const found = access.keys.byReference(reference, actorOf(principal));
  const all = may(principal, "endpoints.try", { owner: undefined });
  const [key, another] = found.filter(
    ({ account }) => all || (account && may(principal, "endpoints.try", { owner: account.uuid })),
  );
  if (!key && !all) throw new Problem(403, "only administrators can act as another account");
  if (!key) throw new Problem(404, `there is no key "${reference.slice(0, 128)}"`);
  if (another)
    throw new Problem(409, `several keys have the name "${reference.slice(0, 128)}": use the uuid`);
  return { principal: key.principal, account: key.account, key };
}

/** `as` is the uuid or e-mail address of an account. Default: the caller. */
export function accountUser(
  { access }: Pick<AdminParts, "access">,
  caller: Caller,
  as: string | undefined,
): User {
  const { accounts } = access;
  const { principal, account: self } = caller;
  const isSelf = self && (as === undefined || as === self.uuid || emailKey(as) === emailKey(self.email));
  if (isSelf) return { principal: livePrincipal(accounts, self.uuid), account: self };
  if (as === undefined) return { principal, account: undefined };
  const account = accounts.byId(as) ?? accounts.byEmail(as);
  if (!may(principal, "endpoints.try", { owner: account?.uuid }))
    throw new Problem(403, "only administrators can act as another account");
  if (!account) throw new Problem(404, `there is no account "${as.slice(0, 128)}"`);
  return {
    principal: livePrincipal(accounts, account.uuid, { actor: actorOf(principal) }),
    account,
  };
}

/** Returns why the endpoint would refuse clients of this user. Undefined if it accepts them. */
export function refusalOf(
  { uuid, spec: { access, disabled } }: StoredObject<"endpoint">,
  { account, key }: Pick<User, "account" | "key">,
): string | undefined {
  if (disabled) return "the endpoint is disabled";
  if (access.public) return undefined;
  const ofKey = key && keyRefusal(key, access, uuid);
  if (ofKey !== undefined || !account) return ofKey;
  if (account.disabled) return "the account is disabled";
  if (!access.keys && !access.oauth) return "the endpoint accepts neither keys nor OAuth tokens";
  return isAllowed(account, access.allow)
    ? undefined
    : "access.allow of the endpoint does not include the account, its groups or its role";
}

function keyRefusal(
  key: KnownKey,
  { keys, oauth }: Pick<StoredObject<"endpoint">["spec"]["access"] & object, "keys" | "oauth">,
  endpoint: string,
): string | undefined {
  if (key.expired) return "the key has expired";
  if (key.role) return "the key is only for the admin API";
  const isMachine = key.principal.client !== undefined;
  if (isMachine && !oauth) return "the endpoint accepts no OAuth tokens";
  if (!isMachine && !keys) return "the endpoint accepts no keys";
  return key.opens(endpoint) ? undefined : "the key is not valid for the endpoint";
}

/** Callers without the right to read objects see only the endpoints that they may use. */
export function maySee(endpoint: StoredObject<"endpoint">, { principal, account }: Caller): boolean {
  return (
    may(principal, "objects.read") ||
    (account !== undefined && refusalOf(endpoint, { account }) === undefined)
  );
}

/** Returns the endpoint in the path. Throws 404 if it does not exist or the caller may not see it. */
export function endpointAt(parts: AdminParts, caller: Caller & AtObject): CompiledEndpoint {
  const name = caller.params.uuid;
  const object = objectAt(parts, "endpoint", name);
  const endpoint = parts.control.compiled.endpoints.get(object.uuid);
  if (!endpoint || !maySee(object, caller)) throw unknownObject("endpoint", name);
  return endpoint;
}

/**
 * The principal that calls have at the endpoint. A public endpoint does not authenticate, so all its callers
 * are anonymous.
 */
export function seenAs({ object }: CompiledEndpoint, { principal }: User, caller: Caller): Principal {
  if (!object.spec.access.public) return principal;
  return { ...ANONYMOUS, actor: actorOf(caller.principal) };
}

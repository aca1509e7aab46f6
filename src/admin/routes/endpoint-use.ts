/** In whose name an endpoint is looked at or tried out, and whether they could use it. */
import { type Account, emailKey, livePrincipal } from "../../access/account.ts";
import { isAllowed } from "../../access/allow.ts";
import type { KnownKey } from "../../access/key-ring.ts";
import { may } from "../../access/may.ts";
import type { CompiledEndpoint } from "../../gateway/compile.ts";
import type { StoredObject } from "../../gateway/objects.ts";
import { ANONYMOUS, type Principal } from "../../kernel/principal.ts";
import { actorOf } from "../authenticate.ts";
import { Problem } from "../problem.ts";
import type { AdminRequest } from "../route.ts";
import { objectAt, unknownObject } from "./objects.ts";
import type { AdminParts } from "./parts.ts";

export const AS = {
  as: {
    type: "string",
    description: "uuid or e-mail address of an account, key:NAME or key:UUID; default: the caller",
  },
} as const;

const KEY_MARK = "key:";

/** Somebody as an endpoint would see them. */
export interface User {
  readonly principal: Principal;
  /** Undefined: a token or a key that is nobody's. */
  readonly account: Account | undefined;
  /** Where they come with a key. */
  readonly key?: KnownKey;
}

export type Asking = Pick<AdminRequest, "principal" | "account">;

/** `as`: an account, or `key:` and a key; whoever asks unless given. In the name of others administrators alone. */
export function userOf(parts: Pick<AdminParts, "access">, asking: Asking, as: string | null): User {
  return as?.startsWith(KEY_MARK)
    ? keyUser(parts, asking, as.slice(KEY_MARK.length))
    : accountUser(parts, asking, as);
}

function keyUser({ access }: Pick<AdminParts, "access">, { principal }: Asking, called: string): User {
  const found = access.keys.called(called, actorOf(principal));
  const all = may(principal, "endpoints.try", { owner: undefined });
  const [key, another] = found.filter(
    ({ account }) => all || (account && may(principal, "endpoints.try", { owner: account.uuid })),
  );
  if (!key && !all) throw new Problem(403, "only administrators can act as another account");
  if (!key) throw new Problem(404, `there is no key "${called.slice(0, 128)}"`);
  if (another) throw new Problem(409, `several keys have the name "${called.slice(0, 128)}": use the uuid`);
  return { principal: key.principal, account: key.account, key };
}

/** `as`: uuid or e-mail address; whoever asks unless given. */
export function accountUser({ access }: Pick<AdminParts, "access">, asking: Asking, as: string | null): User {
  const { accounts } = access;
  const { principal, account: self } = asking;
  const isSelf = self && (as === null || as === self.uuid || emailKey(as) === emailKey(self.email));
  if (isSelf) return { principal: livePrincipal(accounts, self.uuid), account: self };
  if (as === null) return { principal, account: undefined };
  const account = accounts.byId(as) ?? accounts.byEmail(as);
  if (!may(principal, "endpoints.try", { owner: account?.uuid }))
    throw new Problem(403, "only administrators can act as another account");
  if (!account) throw new Problem(404, `there is no account "${as.slice(0, 128)}"`);
  return {
    principal: livePrincipal(accounts, account.uuid, { actor: actorOf(principal) }),
    account,
  };
}

/** Why their clients are refused; undefined where they are not. */
export function refusalOf(
  { uuid, spec: { access, disabled } }: StoredObject<"endpoint">,
  { account, key }: Pick<User, "account" | "key">,
): string | undefined {
  if (disabled) return "the endpoint is disabled";
  if (access.public) return undefined;
  const ofKey = key && keyRefusal(key, access.keys, uuid);
  if (ofKey !== undefined || !account) return ofKey;
  if (account.disabled) return "the account is disabled";
  if (!access.keys && !access.oauth) return "the endpoint accepts neither keys nor OAuth tokens";
  return isAllowed(account, access.allow)
    ? undefined
    : "access.allow of the endpoint does not include the account, its groups or its role";
}

function keyRefusal(key: KnownKey, takesKeys: boolean, endpoint: string): string | undefined {
  if (key.expired) return "the key has expired";
  if (key.role) return "the key is only for the admin API";
  if (!takesKeys) return "the endpoint accepts no keys";
  return key.opens(endpoint) ? undefined : "the key is not valid for the endpoint";
}

/** Whoever reads no objects is told of those endpoints alone that they may use. */
export function maySee(endpoint: StoredObject<"endpoint">, { principal, account }: Asking): boolean {
  return (
    may(principal, "objects.read") ||
    (account !== undefined && refusalOf(endpoint, { account }) === undefined)
  );
}

/** The endpoint of the path, where the caller may know of it. */
export function endpointAt(
  parts: AdminParts,
  asking: Asking & Pick<AdminRequest, "params">,
): CompiledEndpoint {
  const name = asking.params["uuid"] ?? "";
  const object = objectAt(parts, "endpoint", name);
  const endpoint = parts.control.compiled.endpoints.get(object.uuid);
  if (!endpoint || !maySee(object, asking)) throw unknownObject("endpoint", name);
  return endpoint;
}

/** Where everybody is let in, nobody is told apart. */
export function seenAs({ object }: CompiledEndpoint, { principal }: User, asking: Asking): Principal {
  if (!object.spec.access.public) return principal;
  return { ...ANONYMOUS, actor: actorOf(asking.principal) };
}

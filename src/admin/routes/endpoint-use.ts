/** In whose name an endpoint is looked at or tried out, and whether they could use it. */
import { type Account, emailKey, livePrincipal } from "../../access/account.ts";
import { isAllowed } from "../../access/allow.ts";
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
  as: { type: "string", description: "uuid or e-mail address of an account; oneself unless given" },
} as const;

/** Somebody as an endpoint would see them. */
export interface User {
  readonly principal: Principal;
  /** Undefined: a token or a key that is nobody's. */
  readonly account: Account | undefined;
}

type Asking = Pick<AdminRequest, "principal" | "account">;

/** `as`: uuid or e-mail address; whoever asks unless given. In the name of others administrators alone. */
export function userOf({ access }: Pick<AdminParts, "access">, asking: Asking, as: string | null): User {
  const { accounts } = access;
  const { principal, account: self } = asking;
  const isSelf = self && (as === null || as === self.uuid || emailKey(as) === emailKey(self.email));
  if (isSelf) return { principal: livePrincipal(accounts, self.uuid), account: self };
  if (as === null) return { principal, account: undefined };
  const account = accounts.byId(as) ?? accounts.byEmail(as);
  if (!may(principal, "endpoints.try", { owner: account?.uuid }))
    throw new Problem(403, "only administrators act in the name of others");
  if (!account) throw new Problem(404, `there is no account "${as.slice(0, 128)}"`);
  return {
    principal: livePrincipal(accounts, account.uuid, { actor: actorOf(principal) }),
    account,
  };
}

/** Why clients of this account are refused; undefined where they are not. */
export function refusalOf(
  { spec: { access, disabled } }: StoredObject<"endpoint">,
  { account }: Pick<User, "account">,
): string | undefined {
  if (disabled) return "the endpoint is disabled";
  if (access.public || !account) return undefined;
  if (account.disabled) return "the account is disabled";
  if (!access.keys && !access.oauth) return "the endpoint takes neither keys nor OAuth tokens";
  return isAllowed(account, access.allow)
    ? undefined
    : "access.allow of the endpoint names neither the account nor one of its groups or roles";
}

/** Whoever reads no objects is told of those endpoints alone that they may use. */
function maySee(endpoint: StoredObject<"endpoint">, { principal, account }: Asking): boolean {
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

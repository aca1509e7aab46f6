/** Saves the grant of one login, bound to what the user consented to. */
import type Provider from "oidc-provider";
import type { GrantScope } from "./grants.ts";
import type { AuthorizationParts } from "./parts.ts";
import { endpointIn, SCOPE } from "./resource.ts";

/** `resource` is the address of the endpoint, as the client named it. */
export async function saveGrant(
  provider: Provider,
  { grants, idOf }: Pick<AuthorizationParts, "grants" | "idOf">,
  scope: GrantScope,
  resource: string,
) {
  const grant = new provider.Grant({ accountId: scope.account, clientId: scope.client });
  grant.addResourceScope(resource, SCOPE);
  await grants.bind(idOf("Grant", await grant.save()), scope);
  return grant;
}

/** Uuid of the endpoint at an address. Undefined if there is none. */
export function endpointAtAddress(
  { base, endpointId }: Pick<AuthorizationParts, "base" | "endpointId">,
  resource: string,
): string | undefined {
  const name = endpointIn(base(), resource);
  return name === undefined ? undefined : endpointId(name);
}

/** Routes for namespaces and endpoints. */
import { present } from "../../gateway/present.ts";
import type { Schema } from "../../kernel/json-schema.ts";
import { checkAllow, type KnownPeople } from "../check-allow.ts";
import {
  ENDPOINT_PATCH,
  NAMESPACE_PATCH,
  NEW_ENDPOINT,
  NEW_NAMESPACE,
  RETURNED_ENDPOINT,
  RETURNED_NAMESPACE,
} from "../schemas.ts";
import { toolsRoute } from "./object-tools.ts";
import { createRoute, patchRoute, type Routed, type RoutedKind, readRoutes, removeRoute } from "./objects.ts";
import type { AdminParts } from "./parts.ts";

// `change` refuses editors who change `access`, or layers that guard access or data.

export function namespaceRoutes(parts: AdminParts) {
  return routesOf(parts, {
    kind: "namespace",
    path: "/namespaces",
    returned: RETURNED_NAMESPACE,
    created: NEW_NAMESPACE,
    patched: NAMESPACE_PATCH,
    editedBy: "namespaces.write",
    show: present,
  });
}

export function endpointRoutes(parts: AdminParts) {
  return routesOf(parts, {
    kind: "endpoint",
    path: "/endpoints",
    returned: RETURNED_ENDPOINT,
    created: NEW_ENDPOINT,
    patched: ENDPOINT_PATCH,
    editedBy: "endpoints.write",
    show: present,
    check: (before, after) => checkAllow(peopleIn(parts), before?.spec.access.allow, after.spec.access.allow),
  });
}

function peopleIn({ access, oidc, control }: AdminParts): KnownPeople {
  const issuers = control.compiled.settings?.spec.issuers ?? [];
  return { accounts: access.accounts.all, comeLater: oidc !== undefined || issuers.length > 0 };
}

function routesOf<
  K extends RoutedKind,
  const P extends string,
  R extends Schema,
  N extends Schema,
  C extends Schema,
>(parts: AdminParts, routed: Routed<K, P, R, N, C>) {
  return [
    ...readRoutes(parts, routed),
    toolsRoute(parts, routed),
    createRoute(parts, routed),
    patchRoute(parts, routed),
    removeRoute(parts, routed),
  ];
}

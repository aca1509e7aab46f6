/** Routes for namespaces and endpoints. */
import type { Route } from "../route.ts";
import { toolsRoute } from "./object-tools.ts";
import { createRoute, patchRoute, type Routed, type RoutedKind, readRoutes, removeRoute } from "./objects.ts";
import type { AdminParts } from "./parts.ts";

// `change` refuses editors who change `access`, or layers that guard access or data.
const NAMESPACES: Routed<"namespace"> = {
  kind: "namespace",
  path: "/namespaces",
  schema: "Namespace",
  editedBy: "namespaces.write",
};
const ENDPOINTS: Routed<"endpoint"> = {
  kind: "endpoint",
  path: "/endpoints",
  schema: "Endpoint",
  editedBy: "endpoints.write",
};

export function namespaceRoutes(parts: AdminParts): readonly Route[] {
  return routesOf(parts, NAMESPACES);
}

export function endpointRoutes(parts: AdminParts): readonly Route[] {
  return routesOf(parts, ENDPOINTS);
}

function routesOf<K extends RoutedKind>(parts: AdminParts, routed: Routed<K>): readonly Route[] {
  return [
    ...readRoutes(parts, routed),
    toolsRoute(parts, routed),
    createRoute(parts, routed),
    patchRoute(parts, routed),
    removeRoute(parts, routed),
  ];
}

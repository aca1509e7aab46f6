/** All routes of the admin API, including the one that describes them. */
import { describeRoutes } from "../openapi.ts";
import type { Route } from "../route.ts";
import { apiKeyRoutes } from "./api-keys.ts";
import { approvalRoutes } from "./approvals.ts";
import { attentionRoutes } from "./attention.ts";
import { auditRoutes } from "./audit.ts";
import { callRoutes } from "./calls.ts";
import { configRoutes } from "./config.ts";
import { explainRoutes } from "./explain.ts";
import { grantRoutes } from "./grants.ts";
import { layerRoutes } from "./layers.ts";
import { liveRoutes } from "./live.ts";
import { loginRoutes } from "./login.ts";
import { loginAtServerRoutes } from "./logins.ts";
import { marketRoutes } from "./market.ts";
import { meRoutes } from "./me.ts";
import { myEndpointRoutes } from "./my-endpoints.ts";
import { endpointRoutes, namespaceRoutes } from "./namespaces-endpoints.ts";
import { oidcRoutes } from "./oidc.ts";
import { type AdminParts, BASE } from "./parts.ts";
import { replayRoutes } from "./replay.ts";
import { revisionRoutes } from "./revisions.ts";
import { serverRoutes } from "./servers.ts";
import { sessionRoutes } from "./sessions.ts";
import { settingsRoutes } from "./settings.ts";
import { statsRoute } from "./stats.ts";
import { toolDetailRoutes } from "./tool-detail.ts";
import { toolRoutes } from "./tools.ts";
import { tryingRoutes } from "./trying.ts";
import { endpointTryingRoutes } from "./trying-endpoints.ts";
import { userRoutes } from "./users.ts";

export function adminRoutes(parts: AdminParts): readonly Route[] {
  const routes: Route[] = [
    ...serverRoutes(parts),
    ...namespaceRoutes(parts),
    ...endpointRoutes(parts),
    ...toolRoutes(parts),
    ...toolDetailRoutes(parts),
    ...tryingRoutes(parts),
    ...endpointTryingRoutes(parts),
    ...marketRoutes(parts),
    ...approvalRoutes(parts),
    ...explainRoutes(parts),
    ...layerRoutes(parts),
    ...settingsRoutes(parts),
    ...apiKeyRoutes(parts),
    ...userRoutes(parts),
    ...loginRoutes(parts),
    ...oidcRoutes(parts),
    ...meRoutes(parts),
    ...myEndpointRoutes(parts),
    ...loginAtServerRoutes(parts),
    ...grantRoutes(parts),
    ...revisionRoutes(parts),
    ...configRoutes(parts),
    ...auditRoutes(parts),
    ...attentionRoutes(parts),
    ...callRoutes(parts),
    statsRoute(parts),
    ...replayRoutes(parts),
    ...liveRoutes(parts),
    ...sessionRoutes(parts),
    {
      method: "GET",
      path: "/openapi.json",
      summary: "This description",
      tag: "description",
      action: "description.read",
      answer: { type: "object" },
      handle: () => ({ body: describeRoutes(routes, BASE) }),
    },
  ];
  return routes;
}

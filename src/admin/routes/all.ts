/** All routes of the admin API, including the one that describes them. */
import { ANY_OBJECT } from "../../kernel/json-schema.ts";
import { describeRoutes } from "../openapi.ts";
import { type Route, route } from "../route.ts";
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
import { meRoutes } from "./me.ts";
import { myCallRoutes } from "./my-calls.ts";
import { myEndpointRoutes } from "./my-endpoints.ts";
import { endpointRoutes, namespaceRoutes } from "./namespaces-endpoints.ts";
import { notifyRoutes } from "./notify.ts";
import { oidcRoutes } from "./oidc.ts";
import { type AdminParts, BASE } from "./parts.ts";
import { policyRoutes } from "./policies.ts";
import { provisionRoutes } from "./provision.ts";
import { replayRoutes } from "./replay.ts";
import { replicaRoutes } from "./replicas.ts";
import { revisionRoutes } from "./revisions.ts";
import { serverRoutes } from "./servers.ts";
import { sessionRoutes } from "./sessions.ts";
import { settingsRoutes } from "./settings.ts";
import { statsRoute } from "./stats.ts";
import { suggestedToolsRoute } from "./suggested-tools.ts";
import { toolDetailRoutes } from "./tool-detail.ts";
import { toolRoutes } from "./tools.ts";
import { tryingRoutes } from "./trying.ts";
import { endpointTryingRoutes } from "./trying-endpoints.ts";
import { usageRoute } from "./usage.ts";
import { userRoutes } from "./users.ts";
import { whoMayRoutes } from "./who-may.ts";

/** The routes with the types of what they take and return. */
export type AdminRoute = ReturnType<typeof adminRoutes>[number];

export function adminRoutes(parts: AdminParts) {
  const routes = [
    ...serverRoutes(parts),
    ...namespaceRoutes(parts),
    ...endpointRoutes(parts),
    ...toolRoutes(parts),
    ...toolDetailRoutes(parts),
    ...tryingRoutes(parts),
    ...endpointTryingRoutes(parts),
    ...provisionRoutes(parts),
    ...approvalRoutes(parts),
    ...explainRoutes(parts),
    ...layerRoutes(parts),
    ...policyRoutes(parts),
    ...notifyRoutes(parts),
    ...settingsRoutes(parts),
    ...apiKeyRoutes(parts),
    ...userRoutes(parts),
    ...whoMayRoutes(parts),
    ...loginRoutes(parts),
    ...oidcRoutes(parts),
    ...meRoutes(parts),
    ...myEndpointRoutes(parts),
    ...myCallRoutes(parts),
    ...loginAtServerRoutes(parts),
    ...grantRoutes(parts),
    ...revisionRoutes(parts),
    ...configRoutes(parts),
    ...auditRoutes(parts),
    ...attentionRoutes(parts),
    ...replicaRoutes(parts),
    ...callRoutes(parts),
    statsRoute(parts),
    usageRoute(parts),
    suggestedToolsRoute(parts),
    ...replayRoutes(parts),
    ...liveRoutes(parts),
    ...sessionRoutes(parts),
  ];
  const description: Route = route({
    method: "GET",
    path: "/openapi.json",
    summary: "This description",
    tag: "description",
    action: "description.read",
    answer: ANY_OBJECT,
    handle: () => ({ body: describeRoutes([...routes, description], BASE) }),
  });
  return [...routes, description];
}

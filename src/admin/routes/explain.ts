/**
 * Route that explains what would happen to a call at an endpoint, and which rule decides. Runs nothing and
 * counts nothing.
 */

import type { Explained } from "../../gateway/endpoint/explanation.ts";
import { actorOf } from "../../kernel/principal.ts";
import { EXPLAIN, EXPLANATION } from "../pipeline-schemas.ts";
import { route } from "../route.ts";

import { endpointAt, refusalOf, seenAs, userOf } from "./endpoint-use.ts";
import type { AdminParts } from "./parts.ts";

export function explainRoutes(parts: AdminParts) {
  const { control, tries } = parts;
  return [
    route({
      method: "POST",
      path: "/endpoints/:uuid/explain",
      summary:
        "Show what would happen to a call, layer by layer, and which rule decides; nothing runs or counts",
      tag: "endpoints",
      action: "objects.read",
      body: EXPLAIN,
      answer: EXPLANATION,
      async handle(request) {
        request.recordChanges([]);
        const { tool, args, as } = request.body;
        const endpoint = endpointAt(parts, request);
        const user = userOf(parts, request, as);
        const { uuid, name } = endpoint.object;
        const refused = refusalOf(endpoint.object, user);
        const principal = seenAs(endpoint, user, request);
        const rows = () => control.toolsOf({ kind: "endpoint", uuid }, principal);
        const explained =
          refused === undefined ? await tries.explain(uuid, principal, { tool, args, rows }) : undefined;
        const body = explained ?? accessDenied(name, refused ?? "the endpoint is not available now");
        return { body: { as: actorOf(user.principal), ...body } };
      },
    }),
  ];
}

/** The endpoint refuses the account or key before any layer runs. */
function accessDenied(name: string, reason: string): Explained {
  return {
    outcome: "refused",
    steps: [{ use: "access", at: `endpoint "${name}"`, effect: "deny", reason }],
  };
}

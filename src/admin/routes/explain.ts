/** Route that explains what would happen to a call at an endpoint, and which rule decides. Runs nothing and counts nothing. */
import type { Explained } from "../../gateway/endpoint/explain-tool.ts";
import { actorOf } from "../authenticate.ts";
import { EXPLAIN } from "../pipeline-schemas.ts";
import type { Route } from "../route.ts";
import { ref } from "../schemas.ts";
import { endpointAt, refusalOf, seenAs, userOf } from "./endpoint-use.ts";
import { type AdminParts, checkedBody } from "./parts.ts";

interface ExplainBody {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly as?: string;
}

export function explainRoutes(parts: AdminParts): readonly Route[] {
  const { control, tries } = parts;
  return [
    {
      method: "POST",
      path: "/endpoints/:uuid/explain",
      summary:
        "Show what would happen to a call, layer by layer, and which rule decides; nothing runs or counts",
      tag: "endpoints",
      action: "objects.read",
      body: ref("Explain"),
      answer: ref("Explanation"),
      async handle(request) {
        request.recordChanges([]);
        const { tool, args, as = null } = await checkedBody<ExplainBody>(EXPLAIN, request.body ?? {});
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
    },
  ];
}

/** The endpoint refuses the account or key before any layer runs. */
function accessDenied(name: string, reason: string): Explained {
  return {
    outcome: "refused",
    steps: [{ use: "access", at: `endpoint "${name}"`, effect: "deny", reason }],
  };
}

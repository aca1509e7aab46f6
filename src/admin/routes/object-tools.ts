/** Route that lists the tools of a server, namespace or endpoint: on or off, the name, and why. */
import { may } from "../../access/may.ts";
import type { ToolRow } from "../../gateway/view/tool-row.ts";
import { pageOf } from "../page.ts";
import { type AdminRequest, LIST_QUERY, type Route } from "../route.ts";
import { listOf, ref } from "../schemas.ts";
import { endpointAt, refusalOf, seenAs, userOf } from "./endpoint-use.ts";
import { objectAt, type Routed, type RoutedKind } from "./objects.ts";
import type { AdminParts } from "./parts.ts";

const AS = {
  as: {
    type: "string",
    description: "show what this caller sees: uuid or e-mail address of an account, key:NAME or key:UUID",
  },
} as const;

export function toolsRoute<K extends RoutedKind>(
  parts: AdminParts,
  { kind, path }: Pick<Routed<K>, "kind" | "path">,
): Route {
  const ofEndpoint = kind === "endpoint";
  return {
    method: "GET",
    path: `${path}/:uuid/tools`,
    summary: `List all tools of the ${kind}: on or off, the name, and why`,
    tag: path.slice(1),
    action: ofEndpoint ? "endpoints.use" : "objects.read",
    query: ofEndpoint ? { ...LIST_QUERY, ...AS } : LIST_QUERY,
    answer: listOf(ref("Tool")),
    handle(request) {
      const { params, query } = request;
      const rows = ofEndpoint
        ? endpointTools(parts, request)
        : parts.control.toolsOf({ kind, uuid: objectAt(parts, kind, params["uuid"] ?? "").uuid });
      return {
        body: pageOf(rows, query, {
          keyOf: ({ server, tool }) => `${server} ${tool}`,
          textOf: ({ tool, name, title = "", description = "" }) =>
            [tool, name, title, description].join("\n"),
        }),
      };
    },
  };
}

/** Callers without the right to read objects see only the tools that are enabled for them. */
function endpointTools(parts: AdminParts, request: AdminRequest): readonly ToolRow[] {
  const endpoint = endpointAt(parts, request);
  const whole = may(request.principal, "objects.read");
  const as = request.query.get("as");
  const place = { kind: "endpoint", uuid: endpoint.object.uuid } as const;
  if (as === null && whole) return parts.control.toolsOf(place);
  const user = userOf(parts, request, as);
  const rows = parts.control.toolsOf(place, seenAs(endpoint, user, request));
  if (!whole) return rows.filter(({ enabled }) => enabled);
  const because = refusalOf(endpoint.object, user);
  return because === undefined ? rows : rows.map((row) => ({ ...row, enabled: false, because }));
}

/** Route that lists the tools of a server, namespace or endpoint: on or off, the name, and why. */

import { may } from "../../access/may.ts";
import { TOOL, type ToolRow } from "../../gateway/view/tool-row.ts";
import { pageOf } from "../page.ts";
import { type AtObject, LIST_QUERY, type RouteOf, route } from "../route.ts";
import { listOf } from "../schemas.ts";
import { type Caller, endpointAt, refusalOf, seenAs, userOf } from "./endpoint-use.ts";
import { objectAt, type Routed, type RoutedKind } from "./objects.ts";
import type { AdminParts } from "./parts.ts";

const AS = {
  as: {
    type: "string",
    description: "show what this caller sees: uuid or e-mail address of an account, key:NAME or key:UUID",
  },
} as const;

const TOOLS_QUERY = { ...LIST_QUERY, ...AS } as const;

export function toolsRoute<K extends RoutedKind, P extends string>(
  parts: AdminParts,
  { kind, path }: Pick<Routed<K, P>, "kind" | "path">,
) {
  const ofEndpoint = kind === "endpoint";
  const query: typeof TOOLS_QUERY | typeof LIST_QUERY = ofEndpoint ? TOOLS_QUERY : LIST_QUERY;
  return route({
    method: "GET",
    path: `${path as string}/:uuid/tools`,
    summary: `List all tools of the ${kind}: on or off, the name, and why`,
    tag: path.slice(1),
    action: ofEndpoint ? "endpoints.use" : "objects.read",
    query: query as typeof TOOLS_QUERY,
    answer: listOf(TOOL),
    handle(request) {
      const { params, query } = request;
      const rows = ofEndpoint
        ? endpointTools(parts, request, query.as)
        : parts.control.toolsOf({ kind, uuid: objectAt(parts, kind, params.uuid).uuid });
      return {
        body: pageOf(rows, query, {
          keyOf: ({ server, tool }) => `${server} ${tool}`,
          textOf: ({ tool, name, title = "", description = "" }) =>
            [tool, name, title, description].join("\n"),
        }),
      };
    },
  }) as RouteOf<"GET", `${P}/:uuid/tools`, typeof TOOLS_QUERY, never, ReturnType<typeof listOf<typeof TOOL>>>;
}

/** Callers without the right to read objects see only the tools that are enabled for them. */
function endpointTools(
  parts: AdminParts,
  request: Caller & AtObject,
  as: string | undefined,
): readonly ToolRow[] {
  const endpoint = endpointAt(parts, request);
  const nameOf = new Map(endpoint.parts.map(({ part }) => [part.server, part.name]));
  const named = (rows: readonly ToolRow[]) =>
    rows.map((row) => ({ ...row, serverName: nameOf.get(row.server) ?? row.server }));
  const whole = may(request.principal, "objects.read");
  const place = { kind: "endpoint", uuid: endpoint.object.uuid } as const;
  if (as === undefined && whole) return named(parts.control.toolsOf(place));
  const user = userOf(parts, request, as);
  const rows = named(parts.control.toolsOf(place, seenAs(endpoint, user, request)));
  if (!whole) return rows.filter(({ enabled }) => enabled);
  const because = refusalOf(endpoint.object, user);
  return because === undefined ? rows : rows.map((row) => ({ ...row, enabled: false, because }));
}

/** Route for the tools of an endpoint that are called most, which are worth pinning. */
import { COUNT, DATE, list, named, object, TEXT } from "../../kernel/json-schema.ts";
import { writeToolId } from "../../kernel/tool-id.ts";
import { gather } from "../gather.ts";
import { route } from "../route.ts";
import { endpointAt } from "./endpoint-use.ts";
import type { AdminParts } from "./parts.ts";

/** More would cost as much as they save. */
const MOST = 5;

const SUGGESTED_TOOL = named(
  "SuggestedTool",
  object({ id: { ...TEXT, description: "server:tool, for `pinned`" }, calls: COUNT, lastUsedAt: DATE }),
);

export function suggestedToolsRoute(parts: AdminParts) {
  return route({
    method: "GET",
    path: "/endpoints/:uuid/suggested-tools",
    summary: "List the tools that clients of the endpoint call most and that are not pinned",
    tag: "endpoints",
    action: "stats.read",
    answer: list(SUGGESTED_TOOL),
    async handle(request) {
      const { object, parts: placed } = endpointAt(parts, request);
      // The sums of the last seconds wait in each replica.
      await gather(parts, "write-sums", {});
      const { used } = await parts.observed.usage.toolUse({ endpoint: object.uuid });
      const nameOf = new Map(placed.map(({ part }) => [part.server, part.name]));
      const pinned = new Set(object.spec.pinned);
      const suggested = parts.control
        .toolsOf({ kind: "endpoint", uuid: object.uuid })
        .flatMap(({ server, tool, name, enabled, missing }) => {
          const use = used[server]?.[tool];
          const id = writeToolId({ server: nameOf.get(server) ?? server, tool: name });
          if (!use || !enabled || missing || pinned.has(id)) return [];
          return [{ id, calls: use.calls, lastUsedAt: new Date(use.lastAt).toISOString() }];
        })
        .toSorted((a, b) => b.calls - a.calls)
        .slice(0, MOST);
      return { body: suggested };
    },
  });
}

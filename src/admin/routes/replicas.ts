/** Route to list the gateways on the store. */
import { REPLICA } from "../../observe/live/replica-view.ts";
import { pageOf } from "../page.ts";
import { LIST_QUERY, route } from "../route.ts";
import { listOf } from "../schemas.ts";
import type { AdminParts } from "./parts.ts";

export function replicaRoutes({ replicas }: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/replicas",
      summary: "List the gateways on the same Postgres store, the oldest first. Empty on an embedded store",
      tag: "live",
      action: "stats.read",
      query: LIST_QUERY,
      answer: listOf(REPLICA),
      handle: ({ query }) => ({
        body: pageOf(replicas.list(), query, {
          keyOf: ({ since, id }) => `${since} ${id}`,
          textOf: ({ id, address = "", version }) => [id, address, version].join("\n"),
        }),
      }),
    }),
  ];
}

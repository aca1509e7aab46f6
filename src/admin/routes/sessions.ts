/** Routes to list and end the sessions of connected clients. */
import { pageOf } from "../page.ts";
import { Problem } from "../problem.ts";
import { LIST_QUERY, type Route } from "../route.ts";
import { listOf, ref } from "../schemas.ts";
import type { AdminParts } from "./parts.ts";

export function sessionRoutes({ sessions }: AdminParts): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/sessions",
      summary: "List the connected clients. A session is named by a hash of its id",
      tag: "sessions",
      action: "sessions",
      query: LIST_QUERY,
      answer: listOf(ref("ClientSession")),
      handle: ({ query }) => ({
        body: pageOf(sessions.list(), query, {
          keyOf: ({ id }) => id,
          textOf: ({ endpoint, principal, client }) =>
            [endpoint.name, principal.name, client?.name ?? ""].join("\n"),
        }),
      }),
    },
    {
      method: "DELETE",
      path: "/sessions/:id",
      summary: "End the session of a client",
      tag: "sessions",
      action: "sessions",
      handle({ params, recordChanges }) {
        const id = params["id"] ?? "";
        const found = sessions.list().find((session) => session.id === id);
        if (!found || !sessions.end(id)) throw new Problem(404, `there is no session "${id.slice(0, 64)}"`);
        recordChanges([{ action: "end", object: { kind: "session", name: id } }]);
        return {};
      },
    },
  ];
}

/** Routes to list and end the sessions of connected clients. */
import { CLIENT_SESSION } from "../../observe/live/client-session.ts";
import { gather, rowsOf, type Whole } from "../gather.ts";
import { pageOf } from "../page.ts";
import { Problem } from "../problem.ts";
import { LIST_QUERY, route } from "../route.ts";
import { gatheredListOf } from "../schemas.ts";
import type { AdminParts } from "./parts.ts";

export function sessionRoutes(parts: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/sessions",
      summary: "List the connected clients. A session is named by a hash of its id",
      tag: "sessions",
      action: "sessions",
      query: LIST_QUERY,
      answer: gatheredListOf(CLIENT_SESSION),
      async handle({ query }) {
        const whole = await gather(parts, "sessions", {});
        const page = pageOf(rowsOf(whole), query, {
          keyOf: ({ id }) => id,
          textOf: ({ endpoint, principal, client, replica = "" }) =>
            [endpoint.name, principal.name, client?.name ?? "", replica].join("\n"),
        });
        return { body: { ...page, ...whole.missing } };
      },
    }),
    route({
      method: "DELETE",
      path: "/sessions/:id",
      summary: "End the session of a client",
      tag: "sessions",
      action: "sessions",
      async handle({ params, recordChanges }) {
        const { id } = params;
        // It may be on its way from one replica to another, so all are asked.
        const { parts: ended, missing } = await gather(parts, "end-session", { id });
        if (!ended.some(({ value }) => value)) throw notFound(id, missing);
        recordChanges([{ action: "end", object: { kind: "session", name: id } }]);
        return {};
      },
    }),
  ];
}

function notFound(id: string, { missing }: Whole<unknown>["missing"]): Problem {
  const [silent] = missing ?? [];
  if (silent)
    return new Problem(503, `replica ${silent.replica} does not answer, and it may have the session`);
  return new Problem(404, `there is no session "${id.slice(0, 64)}"`);
}

/** Route that lists the last calls of the caller. */
import { list, object } from "../../kernel/json-schema.ts";
import type { CallRow } from "../../observe/call-schema.ts";
import { newestFirst } from "../call-list.ts";
import { gather, rowsOf } from "../gather.ts";
import { RECENT_CALL } from "../observe-schemas.ts";
import { LIST_QUERY, route } from "../route.ts";
import type { AdminParts } from "./parts.ts";

/** Who calls a tool that is hidden from them must not learn that it exists. */
const HIDDEN: ReadonlySet<string | undefined> = new Set(["tool_not_found", "server_not_found"]);

export function myCallRoutes(parts: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/me/calls",
      summary: "List your calls among the last 1,000, without arguments",
      tag: "me",
      action: "me.calls",
      query: { limit: LIST_QUERY.limit },
      answer: object({ items: list(RECENT_CALL) }),
      async handle({ principal: { id }, query: { limit } }) {
        const all = await gather(parts, "calls", { query: { principal: id }, whole: false, limit });
        const items = rowsOf(all).toSorted(newestFirst).slice(0, limit);
        return { body: { items: items.map((call) => ({ ...call, layers: [], ...withoutHidden(call) })) } };
      },
    }),
  ];
}

/** Only a server that exists has a uuid, and the client may have used another name for a hidden tool. */
export function withoutHidden({
  code,
  server,
  tool,
  asked,
}: Pick<CallRow, "code" | "server" | "tool" | "asked">) {
  if (!HIDDEN.has(code)) return {};
  const named =
    asked === undefined ? { server: { name: server.name }, tool } : { server: { name: "" }, tool: asked };
  return { ...named, asked: undefined, by: undefined, place: undefined, reason: undefined };
}

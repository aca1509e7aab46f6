/** Routes for the last calls: a filtered list, one call, and a download. */

import { may } from "../../access/may.ts";
import { TEXT } from "../../kernel/json-schema.ts";
import type { CallWithArguments } from "../../observe/live/recent-calls.ts";
import { AtReplica } from "../at-replica.ts";
import { CALL_FILTERS, type CallPlace, newestFirst, shownCall } from "../call-list.ts";
import { gather, own, rowsOf } from "../gather.ts";
import { RECENT_CALL } from "../observe-schemas.ts";
import { cursorAt, cursorIn } from "../page.ts";
import { Problem } from "../problem.ts";
import { type AdminAnswer, JSON_LINES, LIST_QUERY, route } from "../route.ts";
import { gatheredListOf } from "../schemas.ts";
import type { AdminParts } from "./parts.ts";

const OF_REPLICA = { ...TEXT, description: "id: only calls of this replica" } as const;

export const FORMAT = {
  format: { enum: ["json", "jsonl"], description: "jsonl: download all, one per line" },
} as const;

export function callRoutes(parts: AdminParts) {
  return [
    route({
      method: "GET",
      path: "/calls",
      summary: "List the last 1,000 calls with the layers they passed; administrators also see arguments",
      tag: "live",
      action: "stats.read",
      query: {
        limit: LIST_QUERY.limit,
        cursor: LIST_QUERY.cursor,
        ...CALL_FILTERS,
        replica: OF_REPLICA,
        ...FORMAT,
      },
      answer: gatheredListOf(RECENT_CALL),
      answerTypes: ["application/json", JSON_LINES],
      async handle({ query: { limit, cursor, format, replica, ...query }, principal }) {
        const whole = may(principal, "arguments.read");
        const isFile = format === "jsonl";
        const page = isFile ? {} : { after: placeIn(cursorIn({ cursor })), limit: limit + 1 };
        const all = await gather(parts, "calls", { query, whole, ...page });
        const found = rowsOf(all)
          .filter((call) => replica === undefined || call.replica === replica)
          .toSorted(newestFirst);
        if (isFile) return jsonLinesFile("calls", found);
        const items = found.slice(0, limit);
        const last = items.at(-1);
        const more = last && found.length > limit ? { nextCursor: cursorAt(`${last.at} ${last.id}`) } : {};
        return { body: { items, ...more, ...all.missing } };
      },
    }),
    route({
      method: "GET",
      path: "/calls/:id",
      summary: "Read one of the last 1,000 calls",
      tag: "live",
      action: "stats.read",
      answer: RECENT_CALL,
      handle({ params, principal }) {
        const call = shownCall(parts, callAt(parts, params.id), may(principal, "arguments.read"));
        const { replica } = own(parts, call);
        return { body: { ...call, ...(replica !== undefined && { replica }) } };
      },
    }),
  ];
}

type Observing = Pick<AdminParts, "observed">;

/** A call of this replica. */
export function callAt({ observed }: Observing, id: string): CallWithArguments {
  const named = observed.callIds.read(id) ?? { call: -1 };
  if ("elsewhere" in named) throw new AtReplica("this call", named.elsewhere);
  const found = observed.calls.get(named.call);
  if (!found) throw new Problem(404, "there is no such call among the last 1,000");
  return found;
}

function placeIn(key: string | undefined): CallPlace | undefined {
  const [at = "", id = ""] = key?.split(" ") ?? [];
  return key === undefined ? undefined : { at, id };
}

/** A download with one JSON object per line. */
export function jsonLinesFile(name: string, rows: readonly object[]): AdminAnswer<never> {
  return {
    status: 200,
    text: { type: JSON_LINES, content: rows.map((row) => `${JSON.stringify(row)}\n`).join("") },
    headers: { "content-disposition": `attachment; filename="${name}.jsonl"` },
  };
}

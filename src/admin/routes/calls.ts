/** Routes for the last calls: a filtered list, one call, and a download. */
import { may } from "../../access/may.ts";
import { fromRaw } from "../../kernel/raw.ts";
import type { CallWithArguments } from "../../observe/live/recent-calls.ts";
import { cursorAt, cursorIn, limitIn } from "../page.ts";
import { Problem } from "../problem.ts";
import { type AdminAnswer, LIST_QUERY, type Route } from "../route.ts";
import { listOf, ref } from "../schemas.ts";
import type { AdminParts } from "./parts.ts";

const TEXT = { type: "string" } as const;

const FILTERS = {
  endpoint: { ...TEXT, description: "uuid or name" },
  server: { ...TEXT, description: "uuid or name" },
  method: {
    enum: [
      "tools/call",
      "prompts/get",
      "resources/read",
      "resources/subscribe",
      "completion/complete",
      "other",
    ],
  },
  tool: { ...TEXT, description: "the tool's name at the server; of a resource its URI" },
  principal: { ...TEXT, description: "id or name" },
  session: { ...TEXT, description: "hash" },
  outcome: { enum: ["ok", "error", "refused"] },
  code: { ...TEXT, description: "of the error table" },
  by: { ...TEXT, description: "the layer that refused it" },
  q: { ...TEXT, description: "only calls with this text in a name, the client or the code" },
} as const;

export const FORMAT = {
  format: { enum: ["json", "jsonl"], description: "jsonl: download all, one per line" },
} as const;

export function callRoutes(parts: AdminParts): readonly Route[] {
  const { observed } = parts;
  return [
    {
      method: "GET",
      path: "/calls",
      summary: "List the last 1,000 calls with the layers they passed; administrators also see arguments",
      tag: "live",
      action: "stats.read",
      query: { limit: LIST_QUERY.limit, cursor: LIST_QUERY.cursor, ...FILTERS, ...FORMAT },
      answer: listOf(ref("RecentCall")),
      answerTypes: ["application/json", JSON_LINES],
      handle({ query, principal }) {
        const whole = may(principal, "arguments.read");
        const found = [...observed.calls.list()].filter((call) => fits(call, query));
        if (query.get("format") === "jsonl")
          return jsonLinesFile(
            "calls",
            found.map((call) => shownCall(call, whole)),
          );
        const cursor = cursorIn(query);
        const left = cursor === undefined ? found : found.filter(({ id }) => id < Number(cursor));
        const limit = limitIn(query);
        const items = left.slice(0, limit);
        const last = items.at(-1);
        const more = last && left.length > limit ? { nextCursor: cursorAt(String(last.id)) } : {};
        return { body: { items: items.map((call) => shownCall(call, whole)), ...more } };
      },
    },
    {
      method: "GET",
      path: "/calls/:id",
      summary: "Read one of the last 1,000 calls",
      tag: "live",
      action: "stats.read",
      answer: ref("RecentCall"),
      handle: ({ params, principal }) => ({
        body: shownCall(callAt(parts, params["id"] ?? ""), may(principal, "arguments.read")),
      }),
    },
  ];
}

export function callAt({ observed }: Pick<AdminParts, "observed">, id: string): CallWithArguments {
  const found = /^\d{1,15}$/.test(id) ? observed.calls.get(Number(id)) : undefined;
  if (!found) throw new Problem(404, "there is no such call among the last 1,000");
  return found;
}

/** `whole`: with arguments. */
export function shownCall({ sent, ...call }: CallWithArguments, whole: boolean): object {
  return {
    ...call,
    at: new Date(call.at).toISOString(),
    ...(whole && sent && { arguments: fromRaw(sent) }),
  };
}

export const JSON_LINES = "application/x-ndjson";

/** A download with one JSON object per line. */
export function jsonLinesFile(name: string, rows: readonly object[]): AdminAnswer {
  return {
    status: 200,
    text: { type: JSON_LINES, content: rows.map((row) => `${JSON.stringify(row)}\n`).join("") },
    headers: { "content-disposition": `attachment; filename="${name}.jsonl"` },
  };
}

function fits(call: CallWithArguments, query: URLSearchParams): boolean {
  const {
    endpoint,
    server,
    method = "tools/call",
    tool,
    principal,
    session,
    outcome,
    code,
    by,
    client,
  } = call;
  const is = (name: keyof typeof FILTERS, ...values: readonly (string | undefined)[]): boolean => {
    const expected = query.get(name);
    return expected === null || values.includes(expected);
  };
  const text = query.get("q")?.toLowerCase() ?? "";
  return (
    is("endpoint", endpoint.uuid, endpoint.name) &&
    is("server", server.uuid, server.name) &&
    is("method", method) &&
    is("tool", tool) &&
    is("principal", principal.id, principal.name) &&
    is("session", session) &&
    is("outcome", outcome) &&
    is("code", code) &&
    is("by", by) &&
    [endpoint.name, server.name, tool, principal.name, client?.name ?? "", code ?? ""].some((one) =>
      one.toLowerCase().includes(text),
    )
  );
}

/** Route for who called what and when, from the sums in the store. */

import { TEXT } from "../../kernel/json-schema.ts";
import type { Named } from "../../observe/call-schema.ts";
import { type CallerUsage, RANGES, USAGE, type Usage } from "../../observe/sums/usage-schema.ts";
import { gather } from "../gather.ts";
import type { AdminAnswer } from "../route.ts";
import { route } from "../route.ts";
import type { AdminParts } from "./parts.ts";

const CSV = "text/csv";

export function usageRoute(parts: AdminParts) {
  return route({
    method: "GET",
    path: "/usage",
    summary: "Read who called what, over time: from sums in the store, which restarts do not lose",
    tag: "live",
    action: "stats.read",
    query: {
      range: { enum: RANGES, default: "1h" },
      endpoint: { ...TEXT, description: "uuid or name" },
      namespace: { ...TEXT, description: "uuid or name" },
      server: { ...TEXT, description: "uuid or name; durations are then those of its tools" },
      tool: { ...TEXT, description: "the tool's name at the server" },
      principal: { ...TEXT, description: "id or name" },
      key: { ...TEXT, description: "id of the API key" },
      client: { ...TEXT, description: "name of the client" },
      strips: { type: "boolean", description: "with the calls of each caller over time" },
      format: { enum: ["json", "csv"], default: "json", description: "csv: download the callers" },
    },
    answer: USAGE,
    answerTypes: ["application/json", CSV],
    async handle({ query: { format, ...question } }) {
      // The sums of the last seconds wait in each replica.
      await gather(parts, "write-sums", {});
      const usage = withNames(parts, await parts.observed.usage.read(question, Date.now()));
      return format === "csv" ? callersFile(usage) : { body: usage };
    },
  });
}

/** Names of objects that exist are those of now. */
function withNames({ control }: AdminParts, usage: Usage): Usage {
  const { endpoints, namespaces, servers } = control.compiled;
  const by =
    (all: ReadonlyMap<string, { readonly object: { readonly name: string } }>) => (one: Named | undefined) =>
      one?.uuid === undefined ? one : { ...one, name: all.get(one.uuid)?.object.name ?? one.name };
  const [endpoint, namespace, server] = [by(endpoints), by(namespaces), by(servers)];
  return {
    ...usage,
    flows: usage.flows.map((flow) => ({
      ...flow,
      endpoint: endpoint(flow.endpoint),
      namespace: namespace(flow.namespace),
      server: server(flow.server),
    })),
    took: usage.took.map((row) => ({ ...row, server: server(row.server) })),
  };
}

const COLUMNS: Readonly<Record<string, (row: CallerUsage) => string | number | undefined>> = {
  principal: ({ principal }) => principal?.name,
  principal_id: ({ principal }) => principal?.id,
  kind: ({ principal }) => principal?.kind,
  key: ({ key }) => key?.name,
  key_id: ({ key }) => key?.id,
  clients: ({ clients = [] }) => clients.join(" "),
  calls: ({ calls }) => calls,
  errors: ({ errors }) => errors,
  refused: ({ refused }) => refused,
  request_bytes: ({ requestBytes }) => requestBytes,
  result_bytes: ({ resultBytes }) => resultBytes,
  last_used: ({ lastAt }) => lastAt,
};

function callersFile({ callers, range }: Usage): AdminAnswer<never> {
  const lines = [
    Object.keys(COLUMNS),
    ...callers.map((row) => Object.values(COLUMNS).map((value) => value(row) ?? "")),
  ];
  return {
    status: 200,
    text: { type: CSV, content: lines.map((line) => `${line.map(csvField).join(",")}\r\n`).join("") },
    headers: { "content-disposition": `attachment; filename="usage-${range}.csv"` },
  };
}

/**
 * Spreadsheets run what begins like a formula, and clients choose their names. Some divide lines at other
 * characters than commas, whatever is quoted.
 */
export function csvField(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = value.replaceAll(/(^|[;,\t\r\n])(?=[=+\-@\t\r＝＋－＠])/g, "$1'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Converts a server of the other system to a config entry. */
import type { ServerRow } from "./rows.ts";

type Fields = Readonly<Record<string, unknown>>;

const REMOTE: Readonly<Record<string, string>> = { SSE: "sse", STREAMABLE_HTTP: "http" };

/** Returns a text with the reason if the server cannot be used. */
export function entryOf(row: ServerRow): Fields | string {
  const description = row.description ? { description: row.description } : {};
  if (row.type === "STDIO") {
    if (!row.command) return "it has no command";
    const env = textsOf(row.env);
    return {
      ...description,
      command: row.command,
      ...(row.args && row.args.length > 0 ? { args: row.args } : {}),
      ...(Object.keys(env).length > 0 ? { env } : {}),
    };
  }
  const type = Object.hasOwn(REMOTE, row.type) ? REMOTE[row.type] : undefined;
  if (type === undefined) return `its type "${row.type}" is unknown`;
  if (!row.url || !isHttp(row.url)) return "it has no usable url";
  const headers = headersOf(row);
  return { ...description, type, url: row.url, ...(Object.keys(headers).length > 0 ? { headers } : {}) };
}

/** An explicit Authorization header has precedence over the bearer token. */
function headersOf({ headers, bearer_token }: ServerRow): Fields {
  const own = textsOf(headers);
  const named = Object.keys(own).some((name) => name.toLowerCase() === "authorization");
  return { ...own, ...(bearer_token && !named ? { Authorization: `Bearer ${bearer_token}` } : {}) };
}

function textsOf(values: Fields | null | undefined): Fields {
  return Object.fromEntries(
    Object.entries(values ?? {}).flatMap(([name, value]) =>
      typeof value === "string" || typeof value === "number" || typeof value === "boolean"
        ? [[name, String(value)]]
        : [],
    ),
  );
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

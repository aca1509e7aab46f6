/** Reads the lists that a client gets. */
import { type GatewayOptions, gateway } from "./gateway.ts";
import type { Answer, RawClient } from "./raw-client.ts";
import type { Temp } from "./temp.ts";

export function aggregate(folder: Temp, { flags = [], ...options }: GatewayOptions = {}): RawClient {
  return gateway(folder, { flags: ["--surface", "aggregate", ...flags], ...options });
}

/** The entries in a member of a result; none for an error. */
export function entriesOf<T>({ result }: Answer, member: string): T[] {
  return (result?.[member] ?? []) as T[];
}

/** The names or URIs of all entries of a list, from all pages. */
export async function names(client: RawClient, method = "tools/list"): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: unknown; ; ) {
    const { result, error } = await client.request(method, cursor === undefined ? undefined : { cursor });
    if (!result) throw new Error(JSON.stringify(error));
    const { nextCursor, ...lists } = result;
    for (const entry of Object.values(lists)[0] as Record<string, string>[])
      found.push(entry["uriTemplate"] ?? entry["uri"] ?? entry["name"] ?? "");
    if (nextCursor === undefined) return found;
    cursor = nextCursor;
  }
}

/** The list_changed notifications that the client got, in order. */
export function listChanges(client: RawClient): string[] {
  return client.notifications.map(({ method }) => method).filter((method) => method.endsWith("list_changed"));
}

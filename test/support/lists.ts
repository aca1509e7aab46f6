/** The lists of a client taken apart for tests. */
import { type GatewayOptions, gateway } from "./gateway.ts";
import type { Answer, RawClient } from "./raw-client.ts";
import type { Temp } from "./temp.ts";

export function aggregate(folder: Temp, { flags = [], ...options }: GatewayOptions = {}): RawClient {
  return gateway(folder, { flags: ["--surface", "aggregate", ...flags], ...options });
}

/** The entries under a member of a result; none where the answer is an error. */
export function entriesOf<T>({ result }: Answer, member: string): T[] {
  return (result?.[member] ?? []) as T[];
}

/** All pages of a list, by what its entries are asked for. */
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

/** What it was told to list again, in order. */
export function told(client: RawClient): string[] {
  return client.notifications.map(({ method }) => method).filter((method) => method.endsWith("list_changed"));
}

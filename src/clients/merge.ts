/** Which of the servers that were found are new to our config, and under what name. The same server counts once. */
import { isDeepStrictEqual } from "node:util";
import { isKeys, type Keys } from "../config/field.ts";
import type { GatheredServer } from "./gather.ts";
import { translate } from "./translate.ts";

export interface Taken extends GatheredServer {
  /** In our config; another one where the name is taken by a different server. */
  readonly as: string;
}

export interface Merged {
  readonly taken: readonly Taken[];
  /** There already, or found elsewhere too, under the name it has. */
  readonly same: readonly (GatheredServer & { readonly as: string })[];
}

export function merge(found: readonly GatheredServer[], servers: Keys): Merged {
  const names = new Map(Object.entries(servers).map(([name, entry]) => [name, reachOf(entry)]));
  const taken: Taken[] = [];
  const same: (GatheredServer & { as: string })[] = [];
  for (const server of found) {
    const reach = reachOf(server.entry);
    const twin = [...names].find(([, other]) => isDeepStrictEqual(other, reach))?.[0];
    if (twin !== undefined) {
      same.push({ ...server, as: twin });
      continue;
    }
    const as = freeName(server, names);
    names.set(as, reach);
    taken.push({ ...server, as });
  }
  return { taken, same };
}

function freeName({ name, client }: GatheredServer, names: ReadonlyMap<string, unknown>): string {
  const candidates = [name, `${name}-${client.id}`];
  for (let count = 2; ; count++) {
    const free = candidates.find((candidate) => !names.has(candidate));
    if (free !== undefined) return free;
    candidates.push(`${name}-${client.id}-${count}`);
  }
}

/** What makes a server the same one: how it is reached, and with what credentials. */
function reachOf(entry: unknown): unknown {
  const result = isKeys(entry) ? translate({ name: "", entry }) : undefined;
  if (!result || "reason" in result) return entry;
  const { command, args = [], env = {}, cwd, url, headers = {}, type } = result.entry;
  return command === undefined ? { url, headers, sse: type === "sse" } : { command, args, env, cwd };
}

/** Decides which found servers are new to our config, and their names. Equal servers count once. */
import { isDeepStrictEqual } from "node:util";
import { isKeys, type Keys } from "../config/field.ts";
import type { GatheredServer } from "./gather.ts";
import { translate } from "./translate.ts";

export interface NewServer extends GatheredServer {
  /** The name in our config. It differs from the client's if another server has that name. */
  readonly as: string;
}

export interface Merged {
  readonly taken: readonly NewServer[];
  /** Servers that our config has already, or that were found twice, with their name there. */
  readonly same: readonly (GatheredServer & { readonly as: string })[];
}

export function merge(found: readonly GatheredServer[], servers: Keys): Merged {
  const names = new Map(Object.entries(servers).map(([name, entry]) => [name, connectionOf(entry)]));
  const taken: NewServer[] = [];
  const same: (GatheredServer & { as: string })[] = [];
  for (const server of found) {
    const connection = connectionOf(server.entry);
    const existing = [...names].find(([, other]) => isDeepStrictEqual(other, connection))?.[0];
    if (existing !== undefined) {
      same.push({ ...server, as: existing });
      continue;
    }
    const as = freeName(server, names);
    names.set(as, connection);
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

/** Two servers are the same if address or command and credentials are equal. */
function connectionOf(entry: unknown): unknown {
  const result = isKeys(entry) ? translate({ name: "", entry }) : undefined;
  if (!result || "reason" in result) return entry;
  const { command, args = [], env = {}, cwd, url, headers = {}, type } = result.entry;
  return command === undefined ? { url, headers, sse: type === "sse" } : { command, args, env, cwd };
}

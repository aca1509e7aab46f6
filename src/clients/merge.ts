/**
 * Decides which found servers are new to our config, and their names. Servers with equal connections and
 * equal tool rules count once.
 */
import { isDeepStrictEqual } from "node:util";
import { isOff } from "../config/consent.ts";
import { isKeys, type Keys } from "../config/field.ts";
import type { GatheredServer } from "./gather.ts";
import { METAMCP_NAME } from "./metamcp-entry.ts";
import { translate } from "./translate.ts";

export interface NewServer extends GatheredServer {
  /** The name in our config. It differs from the client's if another server has that name. */
  readonly as: string;
}

export interface SameServer extends NewServer {
  /** The one in our config allows fewer tools. */
  readonly otherRules: boolean;
}

export interface Merged {
  readonly taken: readonly NewServer[];
  /** Servers that our config has already, or that were found twice, with their name there. */
  readonly same: readonly SameServer[];
}

/** The names of servers with the same connection. */
export interface Twins {
  /** The one with the same tool rules. */
  readonly exact: string | undefined;
  readonly others: readonly string[];
}

export function merge(found: readonly GatheredServer[], servers: Keys): Merged {
  const known = new Map(Object.entries(servers));
  const taken: NewServer[] = [];
  const same: SameServer[] = [];
  // If one client has a server turned off and another uses it, it is used.
  for (const server of found.toSorted((a, b) => Number(isOff(a.entry)) - Number(isOff(b.entry)))) {
    const { exact, others } = twinsOf(server.entry, known);
    const [twin] = others;
    // A rule that the user wrote into our config holds for a server that has none in the client.
    const stricter =
      rulesOf(server.entry) === undefined ? others.find((name) => Object.hasOwn(servers, name)) : undefined;
    const as = exact ?? stricter ?? freeName(server, known);
    if (exact !== undefined || stricter !== undefined) {
      same.push({ ...server, as, otherRules: exact === undefined });
      continue;
    }
    known.set(as, server.entry);
    const note = `its tool rules differ from those of "${twin}"; every client of MetaMCP can use both`;
    taken.push({ ...server, as, notes: twin === undefined ? server.notes : [...server.notes, note] });
  }
  return { taken, same };
}

/** `entry` is in the form of our config. */
export function twinsOf(entry: Keys, servers: Iterable<readonly [string, unknown]>): Twins {
  const connection = connectionOf(entry);
  const rules = rulesOf(entry);
  const twins = [...servers].filter(([, other]) => isDeepStrictEqual(connectionOf(other), connection));
  const exact = twins.find(([, other]) => isDeepStrictEqual(rulesOf(other), rules))?.[0];
  return { exact, others: twins.map(([name]) => name).filter((name) => name !== exact) };
}

function freeName({ name, client }: GatheredServer, names: ReadonlyMap<string, unknown>): string {
  const candidates = [name, `${name}-${client.id}`];
  for (let count = 2; ; count++) {
    const free = candidates.find((candidate) => !names.has(candidate) && candidate !== METAMCP_NAME);
    if (free !== undefined) return free;
    candidates.push(`${name}-${client.id}-${count}`);
  }
}

/** Command or address, and credentials. */
function connectionOf(entry: unknown): unknown {
  const result = isKeys(entry) ? translate({ name: "", entry }) : undefined;
  if (!result || "reason" in result) return entry;
  const { command, args = [], env = {}, cwd, url, headers = {}, type } = result.entry;
  return command === undefined ? { url, headers, sse: type === "sse" } : { command, args, env, cwd };
}

/** Which tools may be used, or undefined for all. */
export function rulesOf(entry: unknown): { readonly allow: unknown; readonly deny: unknown } | undefined {
  const tools = isKeys(entry) ? entry["tools"] : undefined;
  if (!isKeys(tools)) return undefined;
  const sorted = (list: unknown): unknown => (Array.isArray(list) ? list.map(String).toSorted() : list);
  const { allow, deny } = tools;
  return allow === undefined && deny === undefined ? undefined : { allow: sorted(allow), deny: sorted(deny) };
}

/**
 * Groups calls by endpoint, server and tool for counters. A group is the same object while its names are
 * unchanged, so it can be used as a map key.
 */
import { BUILTIN_SERVER } from "../kernel/builtin-server.ts";
import type { ItemMethod } from "../kernel/events.ts";
import type { CallRow, Named } from "./call-schema.ts";
import type { Names } from "./names.ts";

export interface CallGroup {
  readonly endpoint: Named;
  readonly server: Named;
  /**
   * The tool's name at the server. For prompts and resources it is the method, because their names would make
   * too many groups.
   */
  readonly tool: string;
  readonly method: ItemMethod | undefined;
}

/** The group of unknown names, which callers can choose freely. */
export const OTHER = "other";
const OTHER_SERVER: Named = { name: OTHER };
/** At this number the cache is cleared, and groups are made again when needed. */
const MAX_GROUPS = 5_000;

type ByName<T> = Map<string, T>;

export class CallGroups {
  readonly #names: Pick<Names, "hasTool">;
  /** By endpoint, server and tool. */
  readonly #groups: ByName<ByName<ByName<CallGroup>>> = new Map();
  #count = 0;

  constructor(names: Pick<Names, "hasTool">) {
    this.#names = names;
  }

  of(row: CallRow): CallGroup {
    const { method } = row;
    const known = method ? hasServer(row) : this.#hasTool(row);
    // A call that failed was for a server that exists, even if it never listed its tools.
    const server = known || hasFailed(row) ? row.server : OTHER_SERVER;
    return this.#find(row.endpoint, server, method ?? (known ? row.tool : OTHER), method);
  }

  #find(endpoint: Named, server: Named, tool: string, method: ItemMethod | undefined): CallGroup {
    const tools = mapIn(mapIn(this.#groups, idOf(endpoint)), idOf(server));
    const found = tools.get(tool);
    if (
      found &&
      sameName(found.endpoint, endpoint) &&
      sameName(found.server, server) &&
      found.method === method
    )
      return found;
    const created = { endpoint, server, tool, method };
    tools.set(tool, created);
    if (++this.#count > MAX_GROUPS) {
      this.#groups.clear();
      this.#count = 0;
    }
    return created;
  }

  /** Only names of existing tools may be used in counters. */
  #hasTool(row: CallRow): boolean {
    const { server, tool } = row;
    return (
      !isUnknown(row) &&
      hasServer(row) &&
      (server.uuid === undefined || this.#names.hasTool(server.uuid, tool))
    );
  }
}

function hasServer({ server }: CallRow): boolean {
  return server.uuid !== undefined || server.name === BUILTIN_SERVER;
}

/** Another caller may list a tool of this name. Only one that something hides is a tool for this caller. */
function isUnknown({ code, by }: CallRow): boolean {
  return (code === "tool_not_found" || code === "server_not_found") && by === undefined;
}

function hasFailed(row: CallRow): boolean {
  return row.outcome === "error" && row.server.uuid !== undefined && !isUnknown(row);
}

function idOf({ uuid, name }: Named): string {
  return uuid ?? name;
}

function sameName(a: Named, b: Named): boolean {
  return a.name === b.name;
}

function mapIn<T>(all: ByName<ByName<T>>, name: string): ByName<T> {
  let found = all.get(name);
  if (!found) {
    found = new Map();
    all.set(name, found);
  }
  return found;
}

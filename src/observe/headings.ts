/** Under which names a call is counted. Each heading is one object while its names last: what is kept for it needs no key made of texts. */
import type { ItemMethod } from "../kernel/events.ts";
import { type CallRow, OWN_SERVER } from "./call-row.ts";
import type { Named, Names } from "./names.ts";

export interface Heading {
  readonly endpoint: Named;
  readonly server: Named;
  /** The server's own name of the tool. Of prompts and resources their method: which one it was would make too many. */
  readonly tool: string;
  readonly method: ItemMethod | undefined;
}

/** What a caller made up. */
export const OTHER = "other";
const OTHER_SERVER: Named = { name: OTHER };
/** Then all are forgotten, and made again when they are needed. */
const MOST_HEADINGS = 5_000;

type ByName<T> = Map<string, T>;

export class Headings {
  readonly #names: Pick<Names, "hasTool">;
  /** By endpoint, server and tool. */
  readonly #known: ByName<ByName<ByName<Heading>>> = new Map();
  #count = 0;

  constructor(names: Pick<Names, "hasTool">) {
    this.#names = names;
  }

  of(row: CallRow): Heading {
    const { method } = row;
    const known = method ? hasServer(row) : this.#hasTool(row);
    const server = known ? row.server : OTHER_SERVER;
    return this.#find(row.endpoint, server, method ?? (known ? row.tool : OTHER), method);
  }

  #find(endpoint: Named, server: Named, tool: string, method: ItemMethod | undefined): Heading {
    const tools = within(within(this.#known, idOf(endpoint)), idOf(server));
    const found = tools.get(tool);
    if (
      found &&
      isNamed(found.endpoint, endpoint) &&
      isNamed(found.server, server) &&
      found.method === method
    )
      return found;
    const made = { endpoint, server, tool, method };
    tools.set(tool, made);
    if (++this.#count > MOST_HEADINGS) {
      this.#known.clear();
      this.#count = 0;
    }
    return made;
  }

  /** Only the name of a tool that exists may stand in counters. */
  #hasTool(row: CallRow): boolean {
    const { server, tool, code } = row;
    if (code === "tool_not_found" || code === "server_not_found") return false;
    return hasServer(row) && (server.uuid === undefined || this.#names.hasTool(server.uuid, tool));
  }
}

function hasServer({ server }: CallRow): boolean {
  return server.uuid !== undefined || server.name === OWN_SERVER;
}

function idOf({ uuid, name }: Named): string {
  return uuid ?? name;
}

function isNamed(known: Named, now: Named): boolean {
  return known.name === now.name;
}

function within<T>(all: ByName<ByName<T>>, name: string): ByName<T> {
  let found = all.get(name);
  if (!found) {
    found = new Map();
    all.set(name, found);
  }
  return found;
}

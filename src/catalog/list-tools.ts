/** All pages of a child's `tools/list`. Trusts no child to end, to be tidy, or to be small. */
import type { ServerId } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Raw } from "../kernel/raw.ts";
import { METHOD_NOT_FOUND, RpcError } from "../rpc/rpc-error.ts";
import { elements, joinObject, members } from "../rpc/slice.ts";
import { isArray } from "./json-array.ts";
import { readTool } from "./read-tool.ts";
import type { Tool } from "./tool.ts";

/** One request to a child that has just been connected. */
export type Ask = (method: string, params: Raw | undefined) => Promise<Raw>;

const MOST_PAGES = 1_000;
const MOST_TOOLS = 50_000;
const MOST_BYTES = 134_217_728;

/** `report` hears, at most once per kind, what was wrong with a list that could be used all the same. */
export async function listTools(
  server: ServerId,
  ask: Ask,
  report: (problem: string) => void = () => {},
): Promise<readonly Tool[]> {
  const list = new ToolList(server);
  const seen = new Set<string>();
  let cursor: Raw | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await askPage(ask, cursor);
    if (!answer) break;
    const fresh = list.add(answer);
    cursor = nextOf(answer);
    if (!cursor) break;
    const key = cursor.toString();
    if (!seen.has(key)) {
      seen.add(key);
      if (page + 1 === MOST_PAGES) throw refused(server, `goes on after ${MOST_PAGES} pages`);
      continue;
    }
    // Some servers always give a cursor; a page without anything unknown was their end.
    if (fresh > 0) throw refused(server, "repeats a cursor, so its pages never end");
    report("its tools/list gives a cursor after the last page");
    break;
  }
  for (const problem of list.problems()) report(problem);
  return list.tools;
}

/** Undefined where the child means that there is nothing: it has no tools, or its empty cursor was none. */
async function askPage(ask: Ask, cursor: Raw | undefined): Promise<Raw | undefined> {
  try {
    return await ask("tools/list", cursor && joinObject([["cursor", cursor]]));
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (cursor ? cursor.toString() === '""' : error.code === METHOD_NOT_FOUND) return undefined;
    throw error;
  }
}

function nextOf(answer: Raw): Raw | undefined {
  const [cursor] = members(answer, ["nextCursor"]);
  return cursor && cursor.toString() !== "null" ? cursor : undefined;
}

class ToolList {
  readonly #server: ServerId;
  readonly #byName = new Map<string, Tool>();
  #bytes = 0;
  #nameless = 0;
  readonly #twice = new Set<string>();

  constructor(server: ServerId) {
    this.#server = server;
  }

  get tools(): readonly Tool[] {
    return [...this.#byName.values()];
  }

  /** Returns how many were not known from earlier pages. */
  add(answer: Raw): number {
    const [tools] = members(answer, ["tools"]);
    if (!tools || !isArray(tools)) throw refused(this.#server, "holds no list of tools");
    const before = this.#byName.size;
    this.#bytes += tools.length;
    if (this.#bytes > MOST_BYTES) throw refused(this.#server, `is larger than ${MOST_BYTES} bytes`);
    for (const entry of elements(tools)) this.#take(readTool(this.#server, entry));
    return this.#byName.size - before;
  }

  #take(tool: Tool | undefined): void {
    if (!tool) this.#nameless += 1;
    else if (this.#byName.has(tool.name)) this.#twice.add(tool.name);
    else this.#byName.set(tool.name, tool);
    if (this.#byName.size > MOST_TOOLS) throw refused(this.#server, `has more than ${MOST_TOOLS} tools`);
  }

  problems(): readonly string[] {
    const problems: string[] = [];
    if (this.#nameless > 0) problems.push(`${this.#nameless} entries of its tools/list are no tools`);
    if (this.#twice.size > 0) problems.push(`it lists twice, and the first counts: ${someOf(this.#twice)}`);
    return problems;
  }
}

function someOf(names: ReadonlySet<string>): string {
  const some = [...names].slice(0, 5).join(", ");
  return names.size > 5 ? `${some} and ${names.size - 5} more` : some;
}

function refused(server: ServerId, fault: string): MetaMcpError {
  return new MetaMcpError("execution_failed", `The tool list of "${server}" ${fault}.`, {
    server,
    op: "tools/list",
  });
}

/** What the short surfaces save: what the full list would have cost, less what was shown and searched. */
import type { ToolsListed } from "../../kernel/events.ts";
import { tokensOf } from "../../kernel/tokens.ts";
import type { CallRow } from "../call-row.ts";

/** Tools of ours whose answers stand in for a part of the list. */
const LOOK_UPS: ReadonlySet<string> = new Set([
  "mcp_discover",
  "search_tools",
  "list_tools",
  "list_namespaces",
  "describe_tool",
  "list_tool_examples",
]);

const MOST_CALLERS = 10_000;
/** Who has no session may be in another conversation each time, or in the same all day: once in so long is counted. */
const AGAIN_MS = 3_600_000;

/** A list stands in a conversation once, however often a client asks for it: more would count what nobody saves. */
export class Listings {
  /** By caller, when it was counted; oldest first. */
  readonly #counted = new Map<string, number>();

  saved({ caller, sessionless, at, shownBytes, allBytes }: ToolsListed): number {
    const before = this.#counted.get(caller);
    if (before !== undefined && (!sessionless || at - before < AGAIN_MS)) return 0;
    this.#counted.delete(caller);
    this.#counted.set(caller, at);
    if (this.#counted.size > MOST_CALLERS) this.#counted.delete(this.#counted.keys().next().value ?? "");
    return tokensOf(allBytes) - tokensOf(shownBytes);
  }
}

/** Below nothing: looking costs. What code looks up never reaches a model. */
export function savedByCall({ server, method, tool, resultBytes, via }: CallRow): number {
  if (server.uuid !== undefined || method !== undefined || via !== undefined || !LOOK_UPS.has(tool)) return 0;
  return -tokensOf(resultBytes);
}

/**
 * Estimates the tokens that short surfaces save: the cost of the full list, minus what was shown and
 * searched.
 */
import type { ToolsListed } from "../../kernel/events.ts";
import { Lru } from "../../kernel/lru.ts";
import { tokensOf } from "../../kernel/tokens.ts";
import type { CallRow } from "../call-schema.ts";

/** Our tools whose results replace parts of the list. */
const LOOKUP_TOOLS: ReadonlySet<string> = new Set([
  "mcp_discover",
  "search_tools",
  "list_tools",
  "list_namespaces",
  "describe_tool",
  "list_tool_examples",
]);

const MAX_CALLERS = 10_000;
/**
 * A client without sessions may start a new conversation each time, or stay in one all day. Its list counts
 * once in this time.
 */
const COUNT_AGAIN_MS = 3_600_000;

/** What the list of all tools would have cost, and what was shown instead. */
interface ListTokens {
  readonly full: number;
  readonly shown: number;
}

const NOTHING: ListTokens = { full: 0, shown: 0 };

/** Counts a list once per conversation, because requesting it again saves nothing more. */
export class CountedLists {
  /** When the list of each caller was counted. */
  readonly #counted = new Lru<string, number>(MAX_CALLERS);

  tokens({ caller, sessionless, at, shownBytes, allBytes }: ToolsListed): ListTokens {
    const before = this.#counted.get(caller);
    if (before !== undefined && (!sessionless || at - before < COUNT_AGAIN_MS)) return NOTHING;
    this.#counted.set(caller, at);
    return { full: tokensOf(allBytes), shown: tokensOf(shownBytes) };
  }
}

/** The cost of lookups, which replace parts of the list. Results for code do not reach a model. */
export function shownByCall({ server, method, tool, resultBytes, via }: CallRow): number {
  if (server.uuid !== undefined || method !== undefined || via !== undefined || !LOOKUP_TOOLS.has(tool))
    return 0;
  return tokensOf(resultBytes);
}

/** How people name a tool: server and tool as two words, or as one id. */
import { UsageError } from "../config/command-line.ts";

export interface NamedTool {
  readonly server: string;
  readonly tool: string;
  /** What follows. */
  readonly rest: readonly string[];
}

/** `usage` is said to who names no tool. */
export function readToolName([first = "", ...words]: readonly string[], usage: string): NamedTool {
  const [second] = words;
  const colon = first.indexOf(":");
  // No tool has such a name: these are arguments already.
  const alone = second === undefined || second.includes("=") || second.trimStart().startsWith("{");
  if (!alone) return { server: first, tool: second, rest: words.slice(1) };
  if (colon > 0) return { server: first.slice(0, colon), tool: first.slice(colon + 1), rest: words };
  throw new UsageError(`Usage: metamcp ${usage}`);
}

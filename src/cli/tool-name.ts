/** Reads the name of a tool from arguments: `SERVER TOOL` or `SERVER:TOOL`. */
import { UsageError } from "../config/command-line.ts";

export interface NamedTool {
  readonly server: string;
  readonly tool: string;
  /** The arguments after the name. */
  readonly rest: readonly string[];
}

/** `usage` is shown in the error if no tool is named. */
export function readToolName([first = "", ...words]: readonly string[], usage: string): NamedTool {
  const [second] = words;
  const colon = first.indexOf(":");
  // A word with `=` or `{`, or -, is an argument and not the name of a tool.
  const alone =
    second === undefined || second === "-" || second.includes("=") || second.trimStart().startsWith("{");
  if (!alone) return { server: first, tool: second, rest: words.slice(1) };
  if (colon > 0) return { server: first.slice(0, colon), tool: first.slice(colon + 1), rest: words };
  throw new UsageError(`Usage: metamcp ${usage}`);
}

/** Reads the tool ids that clients send. */
import { MetaMcpError } from "../../kernel/errors.ts";
import { readToolId, type ToolId } from "../../kernel/tool-id.ts";

export interface ToolName extends ToolId {
  readonly id: string;
}

export function splitId(id: string): ToolName {
  const named = readToolId(id);
  if (named) return { id, ...named };
  throw new MetaMcpError(
    "validation_input",
    `"${id}" is not a tool id: write server:tool, as search_tools returns it.`,
    {
      tool_id: id,
    },
  );
}

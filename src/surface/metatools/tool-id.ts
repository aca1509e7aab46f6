/**
 * Tool ids are `server:tool`. They are split at the first colon, because only tool names may contain colons.
 */
import { MetaMcpError } from "../../kernel/errors.ts";

export interface ToolName {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
}

export function splitId(id: string): ToolName {
  const colon = id.indexOf(":");
  if (colon > 0 && colon < id.length - 1)
    return { id, server: id.slice(0, colon), tool: id.slice(colon + 1) };
  throw new MetaMcpError(
    "validation_input",
    `"${id}" is not a tool id: write server:tool, as search_tools returns it.`,
    {
      tool_id: id,
    },
  );
}

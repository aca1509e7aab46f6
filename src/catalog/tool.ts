/** One tool of one child, as the child describes it. */

import type { Repeat, ServerId, TaskSupport } from "../kernel/call.ts";
import type { Raw } from "../kernel/raw.ts";
import type { ToolAnnotations } from "../kernel/tool-facts.ts";

export type { ToolAnnotations } from "../kernel/tool-facts.ts";

export interface Tool {
  readonly server: ServerId;
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  /** Undefined if the definition does not declare it: the tool then does not run as a task. */
  readonly taskSupport?: TaskSupport;
  /**
   * The whole definition, byte by byte as the child sent it unless it had to be repaired. Clients get these
   * bytes.
   */
  readonly definition: Raw;
  readonly inputSchema: Raw;
}

/** Tool ids are `server:tool`, split at the first colon. */
export function toolId(tool: { server: ServerId; name: string }): string {
  return `${tool.server}:${tool.name}`;
}

/** Whether a call may be repeated, by the annotations; "unknown" if the tool does not say. */
export function repeatOf({ readOnlyHint, destructiveHint, idempotentHint }: ToolAnnotations): Repeat {
  if (readOnlyHint === true || idempotentHint === true) return "safe";
  if (idempotentHint === false || readOnlyHint === false || destructiveHint === true) return "unsafe";
  return "unknown";
}

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
  /** Undefined where the tool does not say so: it runs as no task. */
  readonly taskSupport?: TaskSupport;
  /** The whole definition as written: what a client gets to see. */
  readonly definition: Raw;
  /** The input schema as written. */
  readonly inputSchema: Raw;
}

/** Tool ids are `server:tool`, split at the first colon. */
export function toolId(tool: { server: ServerId; name: string }): string {
  return `${tool.server}:${tool.name}`;
}

/** The retry rule's reading of the annotations: safe and unsafe only where the tool says so. */
export function repeatOf({ readOnlyHint, destructiveHint, idempotentHint }: ToolAnnotations): Repeat {
  if (readOnlyHint === true || idempotentHint === true) return "safe";
  if (idempotentHint === false || readOnlyHint === false || destructiveHint === true) return "unsafe";
  return "unknown";
}

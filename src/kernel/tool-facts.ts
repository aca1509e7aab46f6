/** What rules judge a tool by. Its server's own words and the operator's, never the name that a caller happens to use. */
import type { Tier } from "./principal.ts";
import type { Raw } from "./raw.ts";

export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ToolFacts {
  /** What people call the server. */
  readonly server: string;
  /** The server's own name of the tool; empty for what is no tool, such as reading a resource. */
  readonly name: string;
  readonly labels: readonly string[];
  /** Those that count: overridden where a namespace says so. */
  readonly annotations: ToolAnnotations;
  /** As the server lists it; undefined while that is not known. */
  readonly definition?: Raw | undefined;
  /** Each account has its own credential at the server. */
  readonly perAccount?: boolean | undefined;
}

export function tierOf({ readOnlyHint, destructiveHint }: ToolAnnotations): Tier {
  if (readOnlyHint === true) return "readOnly";
  return destructiveHint === true ? "destructive" : "write";
}

/** Globs of rules are over this. */
export function placeOf({ server, name }: Pick<ToolFacts, "server" | "name">): string {
  return `${server}:${name}`;
}

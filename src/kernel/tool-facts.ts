/**
 * The facts about a tool that rules use. They come from the server and the operator, and do not depend on the
 * name that a caller uses.
 */
import { BOOLEAN, object, type Static, TEXT } from "./json-schema.ts";
import type { Tier } from "./principal.ts";
import type { Raw } from "./raw.ts";

export const TOOL_ANNOTATIONS = object(
  {},
  {
    title: TEXT,
    readOnlyHint: BOOLEAN,
    destructiveHint: BOOLEAN,
    idempotentHint: BOOLEAN,
    openWorldHint: BOOLEAN,
  },
);
export type ToolAnnotations = Static<typeof TOOL_ANNOTATIONS>;

export interface ToolFacts {
  /** The name of the server, not its id. */
  readonly server: string;
  /** The server's own name of the tool; empty if it is no tool, such as a read of a resource. */
  readonly name: string;
  readonly labels: readonly string[];
  /** The annotations of the server with the overrides of the namespace. */
  readonly annotations: ToolAnnotations;
  /** The definition as the server lists it; undefined while it is unknown. */
  readonly definition?: Raw | undefined;
  /** Each account has its own credential at the server. */
  readonly perAccount?: boolean | undefined;
}

export function tierOf({ readOnlyHint, destructiveHint }: ToolAnnotations): Tier {
  if (readOnlyHint === true) return "readOnly";
  return destructiveHint === true ? "destructive" : "write";
}

/** The text `server:tool` that globs of rules match. */
export function qualifiedName({ server, name }: Pick<ToolFacts, "server" | "name">): string {
  return `${server}:${name}`;
}

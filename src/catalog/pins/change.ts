/**
 * Types and texts for tools, prompts and instructions that nobody approved as they are. Compares nothing and
 * stores nothing.
 */
import { MEANINGS, type Sign } from "../signs/sign.ts";

/** "suspect": seen for the first time, with a hard sign. "unknown": the approved version cannot be read. */
export const CHANGE_KINDS = ["changed", "new", "suspect", "unknown"] as const;

/** What is pinned: each kind is compared as a list of its own. */
export const PINNED_KINDS = ["tools", "prompts", "instructions"] as const;
export type PinnedKind = (typeof PINNED_KINDS)[number];
/** The name of the instructions, which a server has once. */
export const INSTRUCTIONS = "instructions";

export interface ToolChange {
  /** The kind of the thing that differs. */
  readonly of: PinnedKind;
  /** The name of the tool or prompt. */
  readonly tool: string;
  readonly kind: (typeof CHANGE_KINDS)[number];
  /** The changed members of the definition; empty unless the kind is "changed". */
  readonly parts: readonly string[];
  /** The approved definition in canonical form; missing for new tools and for large definitions. */
  readonly before?: string;
  readonly after: string;
  /** What its texts have that speaks for an attack, the hard signs first. */
  readonly signs: readonly Sign[];
}

export interface Review {
  readonly changes: readonly ToolChange[];
  /** Approved tools that are missing in the list. */
  readonly removed: readonly string[];
  /** What a person approved in its last approved form, as `itemKey` writes it. */
  readonly reviewed?: readonly string[];
  /** Why the tools could not be compared. */
  readonly fault?: string;
}

export function itemKey(of: string, name: string): string {
  return `${of} ${name}`;
}

export const NOTHING_CHANGED: Review = { changes: [], removed: [] };

const PLAIN_NAME = /^[\w.:/-]{1,64}$/;
const MAX_SHOWN = 10;

const MEMBER_NAMES: Readonly<Record<string, string>> = {
  inputSchema: "input schema",
  outputSchema: "output schema",
};

/**
 * An unapproved name may contain instructions for a model or control codes for a terminal, so only plain
 * names are repeated.
 */
export function shownName(tool: string): string {
  return PLAIN_NAME.test(tool) ? tool : "(a tool with an odd name)";
}

/** The name of what changed, with its kind unless it is a tool. */
export function shownItem({ of, tool }: Pick<ToolChange, "of" | "tool">): string {
  if (of === "tools") return shownName(tool);
  return of === "prompts" ? `the prompt ${shownName(tool)}` : "the instructions";
}

/** The first names, then the number of the others. */
export function shownNames(tools: readonly string[], limit = MAX_SHOWN): readonly string[] {
  const names = tools.slice(0, limit);
  return tools.length > limit ? [...names, `and ${tools.length - limit} more`] : names;
}

/** Whether the model must not get it without a warning, although changes of its kind may be harmless. */
export function hasHardSign({ signs }: Pick<ToolChange, "signs">): boolean {
  return signs.some(({ severity }) => severity === "hard");
}

/** The change as the rest of a sentence after the tool's name: "changed its description and input schema". */
export function whatHappened({ kind, parts, signs }: Pick<ToolChange, "kind" | "parts" | "signs">): string {
  if (kind === "suspect") return whatSignsSay(signs);
  const hard = signs.some(({ severity }) => severity === "hard");
  return `${whatChanged({ kind, parts })}${hard ? ` and ${whatSignsSay(signs)}` : ""}`;
}

/** The meaning of the hard signs. */
function whatSignsSay(signs: readonly Sign[]): string {
  const hard = signs.filter(({ severity }) => severity === "hard").map(({ sign }) => MEANINGS[sign]);
  return [...new Set(hard)].join(" and ") || "had a sign of an attack when it was first seen";
}

function whatChanged({ kind, parts }: Pick<ToolChange, "kind" | "parts">): string {
  if (kind === "new") return "is new";
  if (kind === "unknown") return "cannot be compared with the approved version";
  const words = parts.map((part) => MEMBER_NAMES[part] ?? part);
  const last = words.pop() ?? "definition";
  return `changed its ${words.length > 0 ? `${words.join(", ")} and ` : ""}${last}`;
}

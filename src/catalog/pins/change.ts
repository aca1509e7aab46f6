/** Types and texts for tools that differ from what the user approved. Compares nothing and stores nothing. */

/** "unknown": the approved version cannot be read. */
export const CHANGE_KINDS = ["changed", "new", "unknown"] as const;

export interface ToolChange {
  readonly tool: string;
  readonly kind: (typeof CHANGE_KINDS)[number];
  /** The changed members of the definition; empty unless the kind is "changed". */
  readonly parts: readonly string[];
  /** The approved definition in canonical form; missing for new tools and for large definitions. */
  readonly before?: string;
  readonly after: string;
}

export interface Review {
  readonly changes: readonly ToolChange[];
  /** Approved tools that are missing in the list. */
  readonly removed: readonly string[];
  /** Why the tools could not be compared. */
  readonly fault?: string;
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

/** The first names, then the number of the others. */
export function shownNames(tools: readonly string[], limit = MAX_SHOWN): readonly string[] {
  const names = tools.slice(0, limit).map(shownName);
  return tools.length > limit ? [...names, `and ${tools.length - limit} more`] : names;
}

/** The change as the rest of a sentence after the tool's name: "changed its description and input schema". */
export function whatHappened({ kind, parts }: ToolChange): string {
  if (kind === "new") return "is new";
  if (kind === "unknown") return "cannot be compared with the approved version";
  const words = parts.map((part) => MEMBER_NAMES[part] ?? part);
  const last = words.pop() ?? "definition";
  return `changed its ${words.length > 0 ? `${words.join(", ")} and ` : ""}${last}`;
}

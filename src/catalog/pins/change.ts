/** What is not as the user approved it, as values. Compares nothing and keeps nothing. */

export interface ToolChange {
  readonly tool: string;
  /** "unknown": what was approved cannot be read any more. */
  readonly kind: "changed" | "new" | "unknown";
  /** Which members of its definition; of a changed tool only. */
  readonly parts: readonly string[];
  /** The definition that was approved, in canonical form; not known of all. */
  readonly before?: string;
  readonly after: string;
}

export interface Review {
  readonly changes: readonly ToolChange[];
  /** Tools that were approved and are not listed any more. */
  readonly removed: readonly string[];
  /** Why nothing can be said of any tool. */
  readonly fault?: string;
}

export const NOTHING_CHANGED: Review = { changes: [], removed: [] };

const PLAIN = /^[\w.:/-]{1,64}$/;
const SHOWN = 10;

const WORDS: Readonly<Record<string, string>> = {
  inputSchema: "input schema",
  outputSchema: "output schema",
};

/** A name that nobody approved may itself be written for a model, or for a terminal: only plain ones are repeated. */
export function shownName(tool: string): string {
  return PLAIN.test(tool) ? tool : "(a tool with an odd name)";
}

/** The first few by name, then how many more. */
export function shownNames(tools: readonly string[], most = SHOWN): readonly string[] {
  const names = tools.slice(0, most).map(shownName);
  return tools.length > most ? [...names, `and ${tools.length - most} more`] : names;
}

/** What happened to it, after its name: "changed its description and input schema". */
export function whatHappened({ kind, parts }: ToolChange): string {
  if (kind === "new") return "is new";
  if (kind === "unknown") return "cannot be compared with the approved version";
  const words = parts.map((part) => WORDS[part] ?? part);
  const last = words.pop() ?? "definition";
  return `changed its ${words.length > 0 ? `${words.join(", ")} and ` : ""}${last}`;
}

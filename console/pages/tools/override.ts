/** Converts the rule of a namespace for a tool between its stored form and its draft. */
import type { TableTool } from "../../api/types.ts";

export interface Override {
  readonly disabled?: boolean;
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** An argument with a rule. Its value is the typed JSON text. */
export interface TypedArgument {
  readonly name: string;
  readonly mode: "default" | "fixed";
  readonly json: string;
}

export function overrideOf(tool: TableTool, at: string): Override {
  const state = tool.in[at];
  const disabled = state === "off" || state === "new";
  return { ...(tool.overrides?.[at] as Override | undefined), disabled };
}

/** The values of the form; missing ones are empty. */
export interface OverrideDraft extends Required<Omit<Override, "args">> {
  readonly args: readonly TypedArgument[];
}

export function toDraft(stored: Override): OverrideDraft {
  const { disabled = false, name = "", title = "", description = "", annotations = {}, args } = stored;
  return { disabled, name, title, description, annotations, args: typedArguments(args) };
}

export function typedArguments(args: Override["args"] = {}): readonly TypedArgument[] {
  return Object.entries(args).map(([name, rule]) => {
    const mode = "fixed" in (rule as object) ? "fixed" : "default";
    return { name, mode, json: JSON.stringify((rule as Record<string, unknown>)[mode]) };
  });
}

/** Returns the rules to send; undefined if a value is not JSON. */
export function toArguments(typed: readonly TypedArgument[]): Override["args"] | undefined {
  const rules = typed.map(({ name, mode, json }) => [name, mode, parseJson(json)] as const);
  if (rules.some(([, , value]) => value === undefined)) return undefined;
  return Object.fromEntries(rules.map(([name, mode, value]) => [name, { [mode]: value }]));
}

/** Returns undefined if the text is not JSON. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

/** The rule of a namespace for one tool, as it is edited. */
import type { TableTool } from "../../api/types.ts";

export interface Override {
  readonly disabled?: boolean;
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** An argument with a rule. Its value is JSON as it was typed. */
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

/** As it stands in the form: what is not there is empty. */
export interface EditedOverride extends Required<Omit<Override, "args">> {
  readonly args: readonly TypedArgument[];
}

export function editedOverride(stored: Override): EditedOverride {
  const { disabled = false, name = "", title = "", description = "", annotations = {}, args } = stored;
  return { disabled, name, title, description, annotations, args: typedArguments(args) };
}

export function typedArguments(args: Override["args"] = {}): readonly TypedArgument[] {
  return Object.entries(args).map(([name, rule]) => {
    const mode = "fixed" in (rule as object) ? "fixed" : "default";
    return { name, mode, json: JSON.stringify((rule as Record<string, unknown>)[mode]) };
  });
}

/** As they are sent; undefined where one is not JSON. */
export function argumentsIn(typed: readonly TypedArgument[]): Override["args"] | undefined {
  const rules = typed.map(({ name, mode, json }) => [name, mode, parsed(json)] as const);
  if (rules.some(([, , value]) => value === undefined)) return undefined;
  return Object.fromEntries(rules.map(([name, mode, value]) => [name, { [mode]: value }]));
}

/** Undefined: it is not JSON. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

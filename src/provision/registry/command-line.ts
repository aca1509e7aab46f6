/**
 * Turns the arguments of a server.json into an argument list for a process, never into a shell command.
 * Refuses arguments that could change which package runs or that a shell could interpret.
 */
import { isOptional, literal, type Placeholders } from "./placeholders.ts";
import type { Argument } from "./server-json.ts";
import { UnsupportedEntry } from "./unsupported-entry.ts";

/**
 * A named argument becomes two elements, as in every client; a name that ends in `=` is joined with its
 * value.
 */
export function argumentsOf(list: readonly Argument[] = [], placeholders: Placeholders): readonly string[] {
  return list.flatMap((argument) => {
    // A flag is set or not. The user is never asked for it.
    const flag = argument.type === "named" && argument.format === "boolean" && argument.value === undefined;
    if (flag) return argument.isRequired || argument.default === "true" ? [flagName(argument.name)] : [];
    if (isOptional(argument)) return [];
    if (argument.type === "positional")
      return [placeholders.textOf(argument, argument.valueHint ?? "argument")];
    const name = flagName(argument.name);
    const value = placeholders.textOf(argument, name.replaceAll(/^-+|=$/g, ""));
    if (name.endsWith("=")) return [`${name}${value}`];
    return value === "" ? [name] : [name, value];
  });
}

function flagName(name: string): string {
  if (!/^-{0,2}[A-Za-z0-9_][\w.:-]{0,127}=?$/.test(name))
    throw new UnsupportedEntry("the name of an argument is invalid");
  return literal(name);
}

/** Letters, digits and characters without a meaning in any shell. A space is not among them. */
const PLAIN = /^[A-Za-z0-9_@+=:,./-]*$/;
const PLACEHOLDER = /\$\{[A-Za-z_]\w*\}/g;

/**
 * For runners that are, or start, a shell script. Placeholders are safe: no text of a registry contains one.
 */
export function rejectShellCharacters(args: readonly string[], command: string): readonly string[] {
  const bad = args.some((arg) => !PLAIN.test(arg.replaceAll(PLACEHOLDER, "")));
  if (bad) throw new UnsupportedEntry(`an argument contains a shell character, and ${command} uses a shell`);
  return args;
}

/** The options of a runner that an entry may use. */
export interface RunnerOptions {
  readonly flags: readonly string[];
  /** Options with a value, as the next element or after `=`. */
  readonly valued: readonly string[];
  /** Options that MetaMCP passes anyway, so they are dropped. */
  readonly implied: readonly string[];
}

export function allowedOptions(
  args: readonly string[],
  { flags, valued, implied }: RunnerOptions,
  command: string,
): readonly string[] {
  const kept: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    if (implied.includes(arg)) continue;
    const [name = ""] = arg.split("=", 1);
    if (flags.includes(arg)) kept.push(arg);
    else if (!valued.includes(name))
      throw new UnsupportedEntry(`it would run ${command} with an option that is not allowed`);
    else if (name !== arg) kept.push(arg);
    else {
      const value = args[++at];
      if (value === undefined) throw new UnsupportedEntry(`an option for ${command} lacks its value`);
      kept.push(arg, value);
    }
  }
  return kept;
}

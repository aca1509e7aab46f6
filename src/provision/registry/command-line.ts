/** Arguments of a server.json as a list for a process, never as a line for a shell. What could change which package runs, or reach a shell, is refused. */
import { type Blanks, isOptional, literal } from "./blanks.ts";
import { Misfit } from "./misfit.ts";
import type { Argument } from "./server-json.ts";

/** Named ones are two words, as every client writes them; a name that ends in `=` is joined with its value. */
export function argumentsOf(list: readonly Argument[] = [], blanks: Blanks): readonly string[] {
  return list.flatMap((argument) => {
    // A flag is required or not, but never asked for.
    const flag = argument.type === "named" && argument.format === "boolean" && argument.value === undefined;
    if (flag) return argument.isRequired || argument.default === "true" ? [flagName(argument.name)] : [];
    if (isOptional(argument)) return [];
    if (argument.type === "positional") return [blanks.write(argument, argument.valueHint ?? "argument")];
    const name = flagName(argument.name);
    const value = blanks.write(argument, name.replaceAll(/^-+|=$/g, ""));
    if (name.endsWith("=")) return [`${name}${value}`];
    return value === "" ? [name] : [name, value];
  });
}

function flagName(name: string): string {
  if (!/^-{0,2}[A-Za-z0-9_][\w.:-]{0,127}=?$/.test(name))
    throw new Misfit("the name of an argument is invalid");
  return literal(name);
}

/** Letters, digits and what no shell reads anything into; a blank ends a word and is none of them. */
const PLAIN = /^[A-Za-z0-9_@+=:,./-]*$/;
const OPEN_PLACE = /\$\{[A-Za-z_]\w*\}/g;

/** For runners that are, or start, a script of a shell. Open places are ours: no text of a registry holds one. */
export function withoutShellSigns(args: readonly string[], command: string): readonly string[] {
  const bad = args.some((arg) => !PLAIN.test(arg.replaceAll(OPEN_PLACE, "")));
  if (bad) throw new Misfit(`an argument contains a shell character, and ${command} uses a shell`);
  return args;
}

/** What a runner may be told beside the package to run. */
export interface Options {
  readonly flags: readonly string[];
  /** Take a value, as the next word or after `=`. */
  readonly valued: readonly string[];
  /** Said anyway. */
  readonly implied: readonly string[];
}

export function admitted(
  args: readonly string[],
  { flags, valued, implied }: Options,
  command: string,
): readonly string[] {
  const kept: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    if (implied.includes(arg)) continue;
    const [name = ""] = arg.split("=", 1);
    if (flags.includes(arg)) kept.push(arg);
    else if (!valued.includes(name))
      throw new Misfit(`it would run ${command} with an option that is not allowed`);
    else if (name !== arg) kept.push(arg);
    else {
      const value = args[++at];
      if (value === undefined) throw new Misfit(`an option for ${command} lacks its value`);
      kept.push(arg, value);
    }
  }
  return kept;
}

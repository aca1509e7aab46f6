/** What every command of the command line is: a name, a help text, and something to run. */
import { type Table, UsageError } from "../config/command-line.ts";
import { flagHelp } from "../config/help.ts";
import { type ReadSettings, readSettings } from "../config/settings.ts";
import { VERSION } from "../kernel/version.ts";
import { wrap } from "./wrap.ts";

/** How it ended: 0 it worked, 1 it failed, 2 it was used wrongly. */
export type ExitCode = 0 | 1 | 2;

export interface Command {
  readonly name: string;
  /** After `metamcp`. */
  readonly usage: string;
  readonly summary: string;
  readonly flags?: Table;
  /** How many arguments it takes. */
  readonly takes: readonly [least: number, most: number];
  run(given: ReadSettings<Table>): Promise<ExitCode>;
}

/** By the word that names them. */
export type Commands = ReadonlyMap<string, () => Promise<{ readonly command: Command }>>;

/** Reads the command's flags and runs it, or shows its help. */
export async function runCommand(command: Command, argv: readonly string[]): Promise<ExitCode> {
  const { name, flags = {}, takes } = command;
  const given = readSettings(argv, process.env, { command: name, own: flags });
  if (given.settings.help) {
    process.stdout.write(`${wrap(helpOf(command), process.stdout.columns)}\n`);
    return 0;
  }
  if (given.settings.version) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const [least, most] = takes;
  if (given.positionals.length < least || given.positionals.length > most) {
    throw new UsageError(`Usage: metamcp ${command.usage}`);
  }
  return await command.run(given);
}

function helpOf({ name, usage, summary, flags }: Command): string {
  return `${summary}\n\nUsage: metamcp ${usage}\n\nFlags:\n${flagHelp(name, flags)}`;
}

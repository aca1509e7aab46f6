/** The interface of a command, and the function that parses its flags and runs it. */
import { type Table, UsageError } from "../config/command-line.ts";
import { flagsFor } from "../config/flags.ts";
import { flagHelp } from "../config/help.ts";
import { type ReadSettings, readSettings } from "../config/settings.ts";
import type { Env } from "../home/home.ts";
import { VERSION } from "../kernel/version.ts";
import { takeSecrets } from "./own-secrets.ts";
import { print } from "./print.ts";
import { wrap } from "./wrap.ts";

/** 0: success. 1: failure. 2: wrong usage. */
export type ExitCode = 0 | 1 | 2;

export interface Command {
  readonly name: string;
  /** The usage line without the leading `metamcp`. */
  readonly usage: string;
  readonly summary: string;
  readonly flags?: Table;
  /** Number of arguments. */
  readonly takes: readonly [least: number, most: number];
  /** `env` has the secrets of MetaMCP, which `process.env` does not have any more. */
  run(given: ReadSettings<Table>, env: Env): Promise<ExitCode>;
}

/** Loaders of commands, by name. */
export type Commands = ReadonlyMap<string, () => Promise<{ readonly command: Command }>>;

/** Reads the command's flags and runs it, or shows its help. */
export async function runCommand(command: Command, argv: readonly string[]): Promise<ExitCode> {
  const { name, flags = {}, takes } = command;
  const env = takeSecrets(process.env, { ...flagsFor(name), ...flags });
  const given = readSettings(argv, env, { command: name, own: flags });
  if (given.settings.help) {
    print(wrap(helpOf(command), process.stdout.columns));
    return 0;
  }
  if (given.settings.version) {
    print(VERSION);
    return 0;
  }
  const [least, most] = takes;
  if (given.positionals.length < least || given.positionals.length > most) {
    throw new UsageError(`Usage: metamcp ${command.usage}`);
  }
  return await command.run(given, env);
}

function helpOf({ name, usage, summary, flags }: Command): string {
  return `${summary}\n\nUsage: metamcp ${usage}\n\nFlags:\n${flagHelp(name, flags)}`;
}

/**
 * The sandbox that a new local server gets: its private folder, the network, and the places that its
 * arguments name, which it is probably for. Only looks at them.
 */
import { type Stats, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { type Env, expandTilde } from "../home/home.ts";

/** As in a config file. */
export type NewSandbox = true | { readonly read?: readonly string[]; readonly write?: readonly string[] };

const PATH = /^(~|\.{1,2})?\//;
/** A variable for a folder, whose value may not be known yet. */
const FOLDER_VARIABLE = /^\$\{\w*(FOLDER|DIR|DIRECTORY|ROOT)\w*\}$/;
const RUNS_CONTAINERS = /^(docker|podman|nerdctl)$/;
const INTERPRETER = /^(node|nodejs|deno|bun|tsx|python[\d.]*|ruby|perl|php)$/;

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Undefined for a program that cannot run in one: it starts containers through a socket of this machine. */
export function newSandbox(
  { command, args, env: values = {} }: Program,
  { folder, env }: { readonly folder: string; readonly env: Env },
): NewSandbox | undefined {
  const program = basename(command);
  if (RUNS_CONTAINERS.test(program)) return undefined;
  const read: string[] = [];
  const write: string[] = [];
  const script = INTERPRETER.test(program) ? args.find((arg) => !arg.startsWith("-")) : undefined;
  for (const arg of [...args.filter((one) => one !== script), ...Object.values(values)]) {
    if (FOLDER_VARIABLE.test(arg)) write.push(arg);
    if (!PATH.test(arg)) continue;
    const path = resolve(folder, expandTilde(arg, env));
    const found = at(path);
    if (found?.isDirectory() && !write.includes(path)) write.push(path);
    else if (found?.isFile()) read.push(path);
  }
  if (read.length === 0 && write.length === 0) return true;
  return { ...(read.length > 0 && { read }), ...(write.length > 0 && { write }) };
}

function at(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/**
 * The sandbox that a new local server gets: its private folder, the places that its arguments name, which it
 * is probably for, and what the gallery says that it needs. Only looks at the places.
 */
import { type Stats, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { ignoresProxies } from "../config/touches.ts";
import { type Env, expandTilde } from "../home/home.ts";

/** As in a config file. */
export type NewSandbox =
  | true
  | {
      readonly read?: readonly string[];
      readonly write?: readonly string[];
      /** Default: all. */
      readonly network?: "none" | readonly string[];
    };

const PATH = /^(~|\.{1,2})?\//;
/** A variable for a folder, whose value may not be known yet. */
const FOLDER_VARIABLE = /^\$\{\w*(FOLDER|DIR|DIRECTORY|ROOT)\w*\}$/;
const RUNS_CONTAINERS = /^(docker|podman|nerdctl)$/;
const INTERPRETER = /^(node|nodejs|deno|bun|tsx|python[\d.]*|ruby|perl|php)$/;

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What it is known to need. */
  readonly sandbox?: NewSandbox | false;
}

/** Undefined for a program that cannot run in one: it starts containers through a socket of this machine. */
export function newSandbox(
  { command, args, env: values = {}, sandbox }: Program,
  { folder, env }: { readonly folder: string; readonly env: Env },
): NewSandbox | undefined {
  const program = basename(command);
  if (RUNS_CONTAINERS.test(program)) return undefined;
  const known = typeof sandbox === "object" ? sandbox : {};
  const read = [...(known.read ?? [])];
  const write = [...(known.write ?? [])];
  const script = INTERPRETER.test(program) ? args.find((arg) => !arg.startsWith("-")) : undefined;
  for (const arg of [...args.filter((one) => one !== script), ...Object.values(values)]) {
    if (FOLDER_VARIABLE.test(arg) && !write.includes(arg)) write.push(arg);
    if (!PATH.test(arg)) continue;
    const path = resolve(folder, expandTilde(arg, env));
    const found = at(path);
    if (found?.isDirectory() && !write.includes(path)) write.push(path);
    else if (found?.isFile() && !read.includes(path)) read.push(path);
  }
  const network = usable(known.network);
  if (read.length === 0 && write.length === 0 && network === undefined) return true;
  return {
    ...(read.length > 0 && { read }),
    ...(write.length > 0 && { write }),
    ...(network !== undefined && { network }),
  };
}

/** A Node that ignores proxies would not reach the hosts of a list. */
function usable(network: "none" | readonly string[] | undefined): typeof network {
  return Array.isArray(network) && ignoresProxies(process.versions.node) ? undefined : network;
}

function at(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

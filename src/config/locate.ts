/** Finds the config file to read or to write. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Env, expandTilde, homeFolder } from "../home/home.ts";
import { FOUND_NAME } from "./allowed.ts";

/** The given file, else `.mcp.json` in the working directory and then `mcp.json` in METAMCP_HOME. */
export function configCandidates(asked: string | undefined, cwd: string, env: Env): readonly string[] {
  if (asked !== undefined) return [resolve(cwd, expandTilde(asked, env))];
  return [resolve(cwd, FOUND_NAME), join(homeFolder(env), "mcp.json")];
}

/**
 * The file that a command writes to: the given one, with `here` that of the working directory, else the one
 * in METAMCP_HOME, so that secrets do not end up in a repository by default.
 */
export function configToWrite(
  { config, here }: { readonly config: string | undefined; readonly here: boolean },
  cwd: string,
  env: Env,
): string {
  if (here) return resolve(cwd, FOUND_NAME);
  return config === undefined ? join(homeFolder(env), "mcp.json") : resolve(cwd, expandTilde(config, env));
}

/** The first that exists, else the last. */
export function pickConfig(candidates: readonly string[]): string {
  return candidates.find((path) => existsSync(path)) ?? candidates.at(-1) ?? "";
}

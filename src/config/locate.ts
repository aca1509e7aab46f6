/** Which config file is meant. */
import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Env, expandTilde, homeFolder } from "../home/home.ts";
import { FOUND_NAME } from "./allowed.ts";

/** In their order: the one asked for, or `.mcp.json` here and then `mcp.json` at home. */
export function configCandidates(asked: string | undefined, cwd: string, env: Env): readonly string[] {
  if (asked !== undefined) return [resolve(cwd, expandTilde(asked, env))];
  return [resolve(cwd, FOUND_NAME), join(homeFolder(env), "mcp.json")];
}

/** The file that a command writes to: the one asked for, with `here` that of this folder, else the user's own. Secrets of the user do not end in a repository by themselves. */
export function configToWrite(
  { config, here }: { readonly config: string | undefined; readonly here: boolean },
  cwd: string,
  env: Env,
): string {
  if (here) return resolve(cwd, FOUND_NAME);
  return config === undefined ? join(homeFolder(env), "mcp.json") : resolve(cwd, expandTilde(config, env));
}

/** The first that is there, else the last. */
export async function pickConfig(candidates: readonly string[]): Promise<string> {
  for (const path of candidates) {
    const there = await access(path).then(
      () => true,
      () => false,
    );
    if (there) return path;
  }
  return candidates.at(-1) ?? "";
}

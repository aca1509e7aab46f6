/** Which config file is meant. */
import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Env, expandTilde, homeFolder } from "../home/home.ts";

/** In their order: the one asked for, or `.mcp.json` here and then `mcp.json` at home. */
export function configCandidates(asked: string | undefined, cwd: string, env: Env): readonly string[] {
  if (asked !== undefined) return [resolve(cwd, expandTilde(asked, env))];
  return [resolve(cwd, ".mcp.json"), join(homeFolder(env), "mcp.json")];
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

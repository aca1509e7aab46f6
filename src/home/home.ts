/** Resolves the path of MetaMCP's home folder. Creates nothing. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export type Env = Readonly<Record<string, string | undefined>>;

/** `METAMCP_HOME`, or `~/.metamcp`. An empty variable counts as unset. */
export function homeFolder(env: Env): string {
  const chosen = env["METAMCP_HOME"];
  return chosen ? resolve(expandTilde(chosen, env)) : join(userFolder(env), ".metamcp");
}

/** Expands `~` and `~/…` as a shell does; `~name` stays literal. */
export function expandTilde(path: string, env: Env): string {
  if (path === "~") return userFolder(env);
  return path.startsWith("~/") ? join(userFolder(env), path.slice(2)) : path;
}

export function userFolder(env: Env): string {
  return env["HOME"] || homedir();
}

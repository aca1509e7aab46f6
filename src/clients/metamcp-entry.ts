/**
 * MetaMCP as a server of a client: the command that starts it from any folder, and how to recognise its
 * entry.
 */

import { existsSync, realpathSync } from "node:fs";
import { isKeys, type Keys } from "../config/field.ts";
import { runsMetaMcp } from "../config/self.ts";
import { BUILTIN_SERVER } from "../kernel/builtin-server.ts";

import type { StartCommand } from "./client.ts";

export const METAMCP_NAME = BUILTIN_SERVER;

export interface RunningMetaMcp {
  /** The path of the running Node. */
  readonly node: string;
  /** The path of the running script, with links resolved. */
  readonly script: string;
  readonly version: string;
  /** The absolute path of the config file. */
  readonly config: string;
  /** Set only if it is not the default. */
  readonly home: string | undefined;
}

/** Cache folders of package runners, which may be cleared at any time. */
const RUNNER_CACHE = /[\\/](?:_npx|dlx|dlx-[^\\/]*|bunx-[^\\/]*)[\\/]/;

/** Whether the script may be gone tomorrow, so that only a package runner can start it. */
export function isInRunnerCache(script: string): boolean {
  return RUNNER_CACHE.test(script);
}

export function startCommand({ node, script, version, config, home }: RunningMetaMcp): StartCommand {
  const start = isInRunnerCache(script)
    ? { command: "npx", args: ["-y", `${METAMCP_NAME}@${version}`] }
    : { command: stablePath(node), args: [script] };
  return {
    command: start.command,
    args: [...start.args, "--config", config],
    env: home === undefined ? {} : { METAMCP_HOME: home },
  };
}

/** Homebrew removes the folder of a version when it installs the next one, but keeps the link in `opt`. */
function stablePath(node: string): string {
  const link = node.replace(/\/Cellar\/(node[^/]*)\/[^/]+\//, "/opt/$1/");
  return link !== node && existsSync(link) && realpathSync(link) === realpathSync(node) ? link : node;
}

/** Whether an entry of a client starts MetaMCP, in the syntax of any client. */
export function isMetaMcp(entry: unknown): boolean {
  if (!isKeys(entry)) return false;
  const [command, ...args] = wordsOf(entry);
  return command !== undefined && runsMetaMcp(command, args);
}

/** The command and its arguments, which clients write separately, in one list, or in an object. */
export function wordsOf(entry: Keys): readonly string[] {
  const { command, args } = entry;
  if (isKeys(command))
    return wordsOf({ command: command["path"] ?? command["command"], args: command["args"] });
  const words: readonly unknown[] = Array.isArray(command) ? command : [command];
  return [...words, ...(Array.isArray(args) ? (args as unknown[]) : [])].filter(
    (word): word is string => typeof word === "string",
  );
}

/** MetaMCP as a server of a client: how it is started from anywhere, and how to tell that an entry is it. */
import { existsSync, realpathSync } from "node:fs";
import { isKeys, type Keys } from "../config/field.ts";
import { runsMetaMcp } from "../config/self.ts";
import { RESERVED_NAME } from "../config/server.ts";
import type { Own } from "./client.ts";

export const OWN_NAME = RESERVED_NAME;

export interface Running {
  /** The Node that runs. */
  readonly node: string;
  /** The script that runs, without links. */
  readonly script: string;
  readonly version: string;
  /** Absolute. */
  readonly config: string;
  /** Only where it is not the usual one. */
  readonly home: string | undefined;
}

/** Runners keep what they fetched in a place that they clear as they like. */
const FLEETING = /[\\/](?:_npx|dlx|dlx-[^\\/]*|bunx-[^\\/]*)[\\/]/;

export function ownEntry({ node, script, version, config, home }: Running): Own {
  const start = FLEETING.test(script)
    ? { command: "npx", args: ["-y", `${OWN_NAME}@${version}`] }
    : { command: lasting(node), args: [script] };
  return {
    command: start.command,
    args: [...start.args, "--config", config],
    env: home === undefined ? {} : { METAMCP_HOME: home },
  };
}

/** Homebrew keeps each version in a folder of its own, which the next one replaces; a link beside them stays. */
function lasting(node: string): string {
  const link = node.replace(/\/Cellar\/(node[^/]*)\/[^/]+\//, "/opt/$1/");
  return link !== node && existsSync(link) && realpathSync(link) === realpathSync(node) ? link : node;
}

/** Whether an entry of a client starts MetaMCP, in whatever form that client writes it. */
export function isOwn(entry: unknown): boolean {
  if (!isKeys(entry)) return false;
  const [command, ...args] = wordsOf(entry);
  return command !== undefined && runsMetaMcp(command, args);
}

/** Command and arguments: apart, in one list, or in an object. */
export function wordsOf(entry: Keys): readonly string[] {
  const { command, args } = entry;
  if (isKeys(command))
    return wordsOf({ command: command["path"] ?? command["command"], args: command["args"] });
  const words: readonly unknown[] = Array.isArray(command) ? command : [command];
  return [...words, ...(Array.isArray(args) ? (args as unknown[]) : [])].filter(
    (word): word is string => typeof word === "string",
  );
}

/** What a local server may touch, for people, and whether its runtime uses the proxy to its hosts. Pure. */
import { basename } from "node:path";
import { type Sandbox, shownSandbox } from "./sandbox.ts";
import type { StdioSpec } from "./spec.ts";

/** The first version of each line of Node in which `NODE_USE_ENV_PROXY` counts; later lines have it. */
const SINCE = [
  [22, 21],
  [24, 5],
] as const;
const NODE = /^(?:node|nodejs|npx|npm|pnpm|pnpx|yarn|tsx|ts-node)$/;

export function ignoresProxies(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 24) return false;
  const since = SINCE.find(([line]) => line === major);
  return !since || minor < since[1];
}

/** `version`: of the Node that runs servers, which is our own unless the entry names another. */
export function touchesOf(
  { command, sandbox }: Pick<StdioSpec, "command" | "sandbox">,
  version = process.versions.node,
): string {
  const advice = sandbox && proxyAdvice(command, sandbox, version);
  return advice === undefined ? shownSandbox(sandbox) : `${shownSandbox(sandbox)}. ${advice}`;
}

/**
 * What to do for a server whose runtime does not use the proxy by itself; undefined if nothing is known about
 * it.
 */
function proxyAdvice(command: string, { network }: Sandbox, version: string): string | undefined {
  if (typeof network === "string" || network.length === 0) return undefined;
  const program = basename(command);
  if (NODE.test(program) && ignoresProxies(version))
    return `Fetch and http of Node ${version} ignore the proxy: update Node to 22.21, 24.5 or newer, unless its libraries use HTTPS_PROXY themselves`;
  if (program === "java" || program === "jbang")
    return "Java ignores the proxy without JAVA_TOOL_OPTIONS: see docs/sandboxing.md";
  return undefined;
}

/**
 * Detects a server entry that would start MetaMCP with the same config file, and so start itself endlessly.
 */
import { resolve } from "node:path";
import type { ServerSpec } from "./spec.ts";

const METAMCP = /(?:^|[\\/])metamcp(?:\.m?js|\.ts|\.cmd|\.exe)?(?:@[^/]*)?$/;

/** False for a MetaMCP with another config file, which is allowed. */
export function startsItself(spec: ServerSpec, configPath: string): boolean {
  if (spec.kind !== "stdio") return false;
  const { command, args, cwd, env } = spec;
  if (!runsMetaMcp(command, args)) return false;
  const other = configIn(args) ?? env["METAMCP_CONFIG"]?.reveal();
  return other === undefined || resolve(cwd, other) === configPath;
}

/** Whether the command runs MetaMCP with any config file: the program itself, or a runner such as npx. */
export function runsMetaMcp(command: string, args: readonly string[]): boolean {
  // Only the runner's own words may precede the name. Later arguments may be anything, such as a folder named
  // metamcp.
  const program = args.findIndex((arg) => METAMCP.test(arg));
  const runner = args
    .slice(0, Math.max(0, program))
    .every((arg) => arg.startsWith("-") || /^(?:dlx|exec|x|run)$/.test(arg));
  return METAMCP.test(command) || (program >= 0 && runner);
}

function configIn(args: readonly string[]): string | undefined {
  const at = args.indexOf("--config");
  return at >= 0 ? args[at + 1] : args.find((arg) => arg.startsWith("--config="))?.slice("--config=".length);
}

/** Whether a server would be MetaMCP on the very file that names it, and so start itself without end. */
import { resolve } from "node:path";
import type { ServerSpec } from "./spec.ts";

const OURSELVES = /(?:^|[\\/])metamcp(?:\.m?js|\.ts|\.cmd|\.exe)?(?:@[^/]*)?$/;

/** One that is given another config file is an honest server. */
export function startsItself(spec: ServerSpec, configPath: string): boolean {
  if (spec.kind !== "stdio") return false;
  const { command, args, cwd, env } = spec;
  if (!runsMetaMcp(command, args)) return false;
  const other = configIn(args) ?? env["METAMCP_CONFIG"]?.reveal();
  return other === undefined || resolve(cwd, other) === configPath;
}

/** Whether it is MetaMCP, on whatever file: the program itself, or a runner that is given it. */
export function runsMetaMcp(command: string, args: readonly string[]): boolean {
  // What comes after the first flag of the program may be anything, a folder of that name too.
  const program = args.findIndex((arg) => OURSELVES.test(arg));
  const runner = args
    .slice(0, Math.max(0, program))
    .every((arg) => arg.startsWith("-") || /^(?:dlx|exec|x|run)$/.test(arg));
  return OURSELVES.test(command) || (program >= 0 && runner);
}

function configIn(args: readonly string[]): string | undefined {
  const at = args.indexOf("--config");
  return at >= 0 ? args[at + 1] : args.find((arg) => arg.startsWith("--config="))?.slice("--config=".length);
}

/**
 * Knows programs that download a server before its first start, which is then slow. Starts nothing and reads
 * no file.
 */
import type { ServerSpec, StdioSpec } from "../config/spec.ts";

/**
 * A start that installs its server may take this long. Ending it earlier would leave a half-written cache
 * behind.
 */
export const INSTALL_MS = 300_000;

const RUNNERS = /(^|[\\/])(npx|uvx|bunx|pnpx|docker|podman)(\.cmd|\.exe)?$/;
/** Programs that download only with these arguments. */
const SUBCOMMANDS = /(^|[\\/])(npm (exec|x)|pnpm dlx|yarn dlx|bun x|uv tool run|uv run|pipx run) /;
/** A folder or file on this machine is not downloaded. */
const PATH = /^(\.{0,2}[\\/]|[A-Za-z]:[\\/]|\.{1,2}$)/;

/** Why the start may take long; undefined if no such reason is known. */
export function whySlow(spec: ServerSpec): string | undefined {
  const run = runOf(spec);
  return run && `${run.runner} may be downloading it`;
}

/** Whether the start may install the server from the network. */
export function mayInstall(spec: ServerSpec): spec is StdioSpec {
  const what = runOf(spec)?.args.find((arg) => !arg.startsWith("-"));
  return what !== undefined && !PATH.test(what);
}

function runOf(spec: ServerSpec): { readonly runner: string; readonly args: readonly string[] } | undefined {
  if (spec.kind !== "stdio") return undefined;
  // On Windows clients write cmd /c npx.
  const shell = /(^|[\\/])cmd(\.exe)?$/i.test(spec.command) && spec.args[0]?.toLowerCase() === "/c";
  const [program = "", ...args] = shell ? spec.args.slice(1) : [spec.command, ...spec.args];
  if (RUNNERS.test(program)) return { runner: program, args };
  const found = SUBCOMMANDS.exec(`${[program, ...args].join(" ")} `)?.[2];
  return found === undefined ? undefined : { runner: found, args };
}

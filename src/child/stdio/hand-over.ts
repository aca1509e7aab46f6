/**
 * Whether a package runner has finished installing and started its server. Reads /proc, so it knows this only
 * on Linux.
 */
import { readFileSync, readlinkSync } from "node:fs";

const MAX_PROCESSES = 100;
/** A runner that was started by another program, such as a version manager. */
const RUNNER = /(^|[\s/])(npx|npm|pnpm|pnpx|yarn|bunx|uvx?)(-cli\.js)?(\s|$)/;

/**
 * True if a process below `pid` reads from the same stdin: runners give theirs to the server, not to install
 * scripts.
 */
export function hasHandedOver(pid: number): boolean {
  const stdin = stdinOf(pid);
  return stdin !== undefined && below(pid).some((child) => stdinOf(child) === stdin && !isRunner(child));
}

function below(pid: number): readonly number[] {
  const found: number[] = [];
  const open = [pid];
  for (let at = open.pop(); at !== undefined && found.length < MAX_PROCESSES; at = open.pop()) {
    const children = read(`/proc/${at}/task/${at}/children`).split(" ").filter(Boolean).map(Number);
    found.push(...children);
    open.push(...children);
  }
  return found;
}

function isRunner(pid: number): boolean {
  return RUNNER.test(read(`/proc/${pid}/cmdline`).replaceAll("\0", " "));
}

function stdinOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/0`);
  } catch {
    return undefined;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

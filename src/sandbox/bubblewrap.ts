/**
 * A second sandbox layer on Linux: bubblewrap gives the host process no network, no other processes, and no
 * files except Node and the host.
 */
import { execFile } from "node:child_process";
import type { RunUser } from "./host-process.ts";

export interface Wrapper {
  readonly command: string;
  readonly args: readonly string[];
}

const PROBE_MS = 5_000;
/** System paths that a dynamically linked Node needs. */
const SYSTEM = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];

let probe: Promise<boolean> | undefined;
let probed: string | undefined;

/**
 * The command that starts a program which sees only this folder. Undefined if bubblewrap is missing or not
 * permitted.
 */
export async function bubblewrapped(folder: string, user?: RunUser): Promise<Wrapper | undefined> {
  if (process.platform !== "linux") return undefined;
  const args = wrapperArgs(folder, process.execPath);
  if (probed !== folder) {
    probed = folder;
    probe = works(args, user);
  }
  return (await probe) ? { command: "bwrap", args } : undefined;
}

export function wrapperArgs(folder: string, node: string): readonly string[] {
  const visible = [...SYSTEM.flatMap((path) => ["--ro-bind-try", path, path]), "--ro-bind", node, node];
  return [
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--clearenv",
    "--cap-drop",
    "ALL",
    ...visible,
    "--ro-bind",
    folder,
    folder,
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--chdir",
    "/",
    "--",
  ];
}

function works(args: readonly string[], user: RunUser | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(
      "bwrap",
      [...args, process.execPath, "--version"],
      {
        timeout: PROBE_MS,
        env: { PATH: process.env["PATH"] ?? "" },
        uid: user?.uid,
        gid: user?.gid,
        cwd: "/",
      },
      (error) => resolve(!error),
    );
  });
}

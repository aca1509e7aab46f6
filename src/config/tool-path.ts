/** Finds the programs of the system that confine servers. */
import { accessSync, constants, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { isInside } from "./sandbox.ts";

export type Tool = "bwrap" | "prlimit" | "perl" | "env" | "docker" | "podman";

/**
 * Folders with programs of the system. Others in PATH, such as `node_modules/.bin`, a server may be able to
 * write.
 */
const OF_SYSTEM = ["/usr", "/bin", "/sbin", "/opt", "/nix", "/gnu", "/run/current-system"];

/** The absolute path of a program of the system, by our own PATH. */
export function toolPath(name: Tool): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(":").map((folder) => resolve("/", folder));
  const found = folders
    .filter((folder) => OF_SYSTEM.some((one) => isInside(folder, one)))
    .map((folder) => join(folder, name))
    .find(isExecutable);
  return found === undefined ? undefined : realpathSync(found);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Tells whether a process that owns a file on disk is still alive. Works only for processes in the same PID
 * namespace.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Names the PID namespace of this process. Containers can share a host name and still have different PID
 * namespaces.
 */
export function pidNamespace(): string {
  try {
    return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

/** Compares the start time too, where it is known, because the system reuses pids. */
export function isAlive(pid: number, start?: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process is alive but belongs to another user. /proc may be mounted so that it hides such
    // processes.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const state = readProcessState(pid);
  return !state?.ended && (start === undefined || state === undefined || state.start === start);
}

/** The start time of the process in clock ticks since boot. Known on Linux only. */
export function startOf(pid: number): string | undefined {
  return readProcessState(pid)?.start;
}

/**
 * The start time tells a process from a later one with the same pid; `ended` marks a zombie. Undefined
 * without /proc.
 */
function readProcessState(
  pid: number,
): { readonly start: string | undefined; readonly ended: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The process name in parentheses may contain spaces. After it come the state and, as the 20th field, the
    // start time.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { start: fields[19], ended: fields[0] === "Z" || fields[0] === "X" };
  } catch {
    return undefined;
  }
}

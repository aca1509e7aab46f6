/** Whether the process that something on disk belongs to still lives. Can tell only of processes that are counted here. */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Where processes are counted together: containers may share a host name and still count theirs apart. */
export function here(): string {
  try {
    return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

/** A pid alone is used again; with its start time, where that is known, it is not. */
export function lives(pid: number, start?: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Alive, but someone else's; /proc can be mounted so that it does not show there.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = sightOf(pid);
  return !now?.ended && (start === undefined || now === undefined || now.start === start);
}

/** Known on Linux only. */
export function startOf(pid: number): string | undefined {
  return sightOf(pid)?.start;
}

/** Tells a process from a later one with the same pid, and from one that only waits to be buried. */
function sightOf(pid: number): { readonly start: string | undefined; readonly ended: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold spaces. After it: the state, and as the 20th field the start time.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { start: fields[19], ended: fields[0] === "Z" || fields[0] === "X" };
  } catch {
    return undefined;
  }
}

/** Looks at the processes of this machine, to prove that none was leaked. Ends only what it is given by id. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { type Patience, until } from "./until.ts";

interface Entry {
  readonly pid: number;
  readonly parent: number;
  /** Dead, but nobody has asked for its exit code yet. */
  readonly zombie: boolean;
}

const linux = process.platform === "linux";
/** What Linux counts in, whatever the machine. */
const TICK_MS = 10;

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function ids(): number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

function fromProc(pid: number): Entry | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command in parentheses may hold blanks and parentheses itself.
  const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { pid, parent: Number(parent), zombie: state === "Z" || state === "X" };
}

function ps(...args: string[]): string[] {
  return execFileSync("ps", args, { encoding: "utf8", maxBuffer: 1 << 26 })
    .trim()
    .split("\n");
}

function all(): Entry[] {
  if (linux) return ids().flatMap((pid) => fromProc(pid) ?? []);
  return ps("-axo", "pid=,ppid=,stat=").map((line) => {
    const [pid, parent, state] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), zombie: state?.startsWith("Z") ?? false };
  });
}

/** Zombies count as gone. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const entry = linux ? fromProc(pid) : all().find((other) => other.pid === pid);
  return entry !== undefined && !entry.zombie;
}

export async function gone(pids: number | readonly number[], patience?: Patience): Promise<void> {
  const list = typeof pids === "number" ? [pids] : pids;
  await until(() => !list.some(alive), { what: `the end of ${list.join(", ")}`, ...patience });
}

export function childrenOf(pid: number): number[] {
  return all()
    .filter((entry) => entry.parent === pid && !entry.zombie)
    .map((entry) => entry.pid);
}

/** Every living process whose environment has `name` with a value that holds `part`, whoever its parent is now. */
export function carrying(name: string, part = ""): number[] {
  const marked = (environment: string[]): boolean =>
    environment.some((entry) => entry.startsWith(`${name}=`) && entry.includes(part, name.length + 1));
  if (linux)
    return ids().filter((pid) => marked((read(`/proc/${pid}/environ`) ?? "").split("\0")) && alive(pid));
  return ps("-axEwwo", "pid=,command=")
    .filter((line) => marked(line.split(" ")))
    .map((line) => Number.parseInt(line, 10));
}

/** What a process has computed so far, in milliseconds; undefined where that cannot be told. */
export function computed(pid: number): number | undefined {
  const stat = linux ? read(`/proc/${pid}/stat`) : undefined;
  if (stat === undefined) return undefined;
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

/** For cleaning up after a test; a process that is gone already is fine. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {}
}

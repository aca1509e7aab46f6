/** Lists the processes of this machine, to check that none is left over. Ends processes only by id. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { type Patience, until } from "./until.ts";

interface Entry {
  readonly pid: number;
  readonly parent: number;
  /** Exited, but its parent has not read the exit code yet. */
  readonly zombie: boolean;
}

const linux = process.platform === "linux";
/** The unit of CPU times in /proc, the same on all machines. */
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
  // The command in parentheses may contain spaces and parentheses.
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

/** False for zombies. */
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

/** The living processes whose environment variable `name` contains `part`, whatever their parent. */
export function processesWithEnv(name: string, part = ""): number[] {
  const marked = (environment: string[]): boolean =>
    environment.some((entry) => entry.startsWith(`${name}=`) && entry.includes(part, name.length + 1));
  if (linux)
    return ids().filter((pid) => marked((read(`/proc/${pid}/environ`) ?? "").split("\0")) && alive(pid));
  return ps("-axEwwo", "pid=,command=")
    .filter((line) => marked(line.split(" ")))
    .map((line) => Number.parseInt(line, 10));
}

/** The CPU time of a process so far. Undefined if the system does not provide it. */
export function cpuTimeMs(pid: number): number | undefined {
  const stat = linux ? read(`/proc/${pid}/stat`) : undefined;
  if (stat === undefined) return undefined;
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

/** For cleaning up after a test. Ignores a process that has ended. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {}
}

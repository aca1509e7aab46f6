/**
 * A file lock for read-modify-write: one holder at a time. Removes stale locks, but never the lock of a
 * living process.
 */
import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, isAbsent, makeFolder } from "./file.ts";
import { isAlive, pidNamespace, startOf } from "./process-alive.ts";

export interface LockOptions {
  /** How long to wait for the lock. */
  readonly timeoutMs?: number;
}

/** The process that holds a lock. Each acquisition has its own `token`. */
interface Holder {
  readonly pid: number;
  readonly start: string | undefined;
  readonly host: string;
  readonly token: string;
}

/**
 * A holder writes its data in the same tick as it creates the file. If the data is incomplete for longer, the
 * holder is dead.
 */
const INCOMPLETE_STALE_MS = 5_000;
/**
 * It is unknown whether a process on another host or in another container is alive, so the age of its lock
 * decides.
 */
const FOREIGN_STALE_MS = 600_000;
const LONGEST_PAUSE_MS = 50;

/**
 * Runs the function while no other caller in this or another process holds the lock of `path`. Not
 * re-entrant.
 */
export async function withLock<T>(
  path: string,
  run: () => Promise<T>,
  { timeoutMs = 10_000 }: LockOptions = {},
): Promise<T> {
  const file = `${path}.lock`;
  const me = self();
  await makeFolder(dirname(path));
  await acquire(file, me, timeoutMs);
  try {
    return await run();
  } finally {
    release(file, me);
  }
}

async function acquire(file: string, me: Holder, timeoutMs: number): Promise<void> {
  const end = performance.now() + timeoutMs;
  for (let pause = 2; !create(file, me); pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (breakIfStale(file, me)) continue;
    if (performance.now() >= end) throw new Error(busy(file, timeoutMs));
    await sleep(pause * (0.5 + Math.random()));
  }
}

function busy(file: string, timeoutMs: number): string {
  const holder = inspect(file)?.holder;
  const who = holder ? `process ${holder.pid} on ${holder.host}` : "another process";
  return `${file} has been locked by ${who} for over ${timeoutMs} ms. If that process is not MetaMCP, delete the file and try again.`;
}

/** Atomic: if several processes try at the same time, exactly one succeeds. */
function create(file: string, me: Holder): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(file, "wx", 0o600);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
  try {
    writeSync(descriptor, JSON.stringify(me));
  } catch (error) {
    // The disk may be full. An empty lock file would block every caller.
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return true;
}

function release(file: string, me: Holder): void {
  if (inspect(file)?.token === me.token) rmSync(file, { force: true });
}

/**
 * Removes the lock of a dead holder; returns true if the caller should try again at once. If two processes
 * both removed the same stale lock, the second could remove the lock that a third took in between. So a
 * process first takes a claim, a lock file named after the stale lock's token. A stale claim is removed in
 * the same way.
 */
function breakIfStale(file: string, me: Holder): boolean {
  const seen = inspect(file);
  if (!seen) return true;
  if (!seen.stale) return false;
  const claim = `${file}.${seen.token}`;
  if (!create(claim, me)) return breakIfStale(claim, me);
  if (inspect(file)?.token === seen.token) rmSync(file, { force: true });
  rmSync(claim, { force: true });
  return true;
}

interface LockState {
  readonly token: string;
  readonly holder: Holder | undefined;
  readonly stale: boolean;
}

/** Reads the lock file; undefined if there is none. */
function inspect(file: string): LockState | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  // Age and holder come from one descriptor. Read by name, they could come from two successive locks.
  try {
    const { mtimeMs, ino } = fstatSync(descriptor);
    const holder = parse(readFileSync(descriptor, "utf8"));
    const ageMs = Date.now() - mtimeMs;
    if (!holder)
      return { token: `torn-${ino}-${Math.trunc(mtimeMs)}`, holder, stale: ageMs > INCOMPLETE_STALE_MS };
    const sameNamespace = holder.host === pidNamespace();
    const stale = sameNamespace ? !isAlive(holder.pid, holder.start) : ageMs > FOREIGN_STALE_MS;
    return { token: holder.token, holder, stale };
  } finally {
    closeSync(descriptor);
  }
}

function parse(text: string): Holder | undefined {
  try {
    const value = JSON.parse(text) as Partial<Holder> | null;
    const complete =
      Number.isInteger(value?.pid) && typeof value?.host === "string" && /^[\w-]+$/.test(`${value.token}`);
    return complete ? (value as Holder) : undefined;
  } catch {
    return undefined;
  }
}

function self(): Holder {
  return { pid: process.pid, start: startOf(process.pid), host: pidNamespace(), token: randomUUID() };
}

/** One process at a time for read-modify-write of a file. Holds no lock of the living for ever, breaks none of theirs. */
import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, isAbsent, makeFolder } from "./file.ts";
import { here, lives, startOf } from "./living.ts";

export interface LockOptions {
  /** How long to wait for others. */
  readonly timeoutMs?: number;
}

/** Who holds a lock; `token` is never used twice. */
interface Holder {
  readonly pid: number;
  readonly start: string | undefined;
  readonly host: string;
  readonly token: string;
}

/** A holder writes itself down in the same tick as it creates the file; one that did not is dead. */
const TORN_AFTER_MS = 5_000;
/** Whether a process on another host (or in another container) lives cannot be known. */
const FOREIGN_AFTER_MS = 600_000;
const LONGEST_PAUSE_MS = 50;

/** Runs alone among all who lock `path`, in this process and others. Not re-entrant. */
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

/** Atomic: of any number of processes one succeeds. */
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
    // On a full disk: left behind, it would hold up everyone.
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
 * Removes the lock of a dead holder. Two who see the same dead holder must not both remove: the second would remove
 * the lock that a third took in between. So who removes needs a claim, itself a lock, named after the token it
 * removes; a claim left by one that died while removing is broken in the same way.
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

interface Sight {
  readonly token: string;
  readonly holder: Holder | undefined;
  readonly stale: boolean;
}

/** What is to be seen of a lock; undefined if there is none. */
function inspect(file: string): Sight | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  // Both from one descriptor: by name, the age could be that of one lock and the holder that of the next.
  try {
    const { mtimeMs, ino } = fstatSync(descriptor);
    const holder = parse(readFileSync(descriptor, "utf8"));
    const ageMs = Date.now() - mtimeMs;
    if (!holder) return { token: `torn-${ino}-${Math.trunc(mtimeMs)}`, holder, stale: ageMs > TORN_AFTER_MS };
    const stale = holder.host === here() ? !lives(holder.pid, holder.start) : ageMs > FOREIGN_AFTER_MS;
    return { token: holder.token, holder, stale };
  } finally {
    closeSync(descriptor);
  }
}

function parse(text: string): Holder | undefined {
  try {
    const value = JSON.parse(text) as Partial<Holder> | null;
    const whole =
      Number.isInteger(value?.pid) && typeof value?.host === "string" && /^[\w-]+$/.test(`${value.token}`);
    return whole ? (value as Holder) : undefined;
  } catch {
    return undefined;
  }
}

function self(): Holder {
  return { pid: process.pid, start: startOf(process.pid), host: here(), token: randomUUID() };
}

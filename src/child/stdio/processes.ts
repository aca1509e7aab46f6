/**
 * Reads the process table of Linux from /proc. On other systems it is empty. Processes that end meanwhile or
 * may not be read are skipped.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Owner, withMarksOf } from "./marks-of-user.ts";

/** A pid may be reused, but not together with the same start time (clock ticks since boot). */
export interface ProcessIdentity {
  readonly pid: number;
  readonly start: string;
}

export interface Process extends ProcessIdentity {
  readonly parent: number;
  readonly group: number;
  /** It has no environment yet, or none that we may read. */
  readonly bare: boolean;
}

export interface MarkedProcess extends Process {
  /** The value of the mark variable in its environment. */
  readonly marks: string | undefined;
  /** It is executing another program at this moment, so its mark cannot be read yet. */
  readonly changing: boolean;
}

const KERNEL_THREAD = 0x0020_0000;

/** Returns undefined if the process has ended. A zombie has ended too. */
export function readProcess(pid: number): Process | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // The second field is the name of the program in parentheses, which may itself contain blanks and
  // parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group] = fields;
  const start = fields[19];
  if (start === undefined || state === "Z" || state === "X") return undefined;
  return {
    pid,
    start,
    parent: Number(parent),
    group: Number(group),
    bare: fields[48] === "0" && (Number(fields[6]) & KERNEL_THREAD) === 0,
  };
}

/** Whether this system has /proc. Otherwise no process is found. */
export const hasTable = readProcess(process.pid) !== undefined;

export function isSame(known: ProcessIdentity): boolean {
  return readProcess(known.pid)?.start === known.start;
}

/**
 * Whether the process was recognised before. A process that is ending or executed another program may not
 * show its mark any more.
 */
export function isAmong(known: readonly ProcessIdentity[], one: ProcessIdentity): boolean {
  return known.some(({ pid, start }) => pid === one.pid && start === one.start);
}

const buffer = Buffer.allocUnsafeSlow(128 * 1024);

/** One variable of the environment with which a process was started. */
export function readVariable(pid: number, name: string): string | undefined {
  const environment = readEnvironment(pid);
  return environment && findVariable(environment, name);
}

function findVariable(environment: Buffer, name: string): string | undefined {
  const prefix = `${name}=`;
  for (let at = environment.indexOf(prefix); at >= 0; at = environment.indexOf(prefix, at + 1)) {
    if (at > 0 && environment[at - 1] !== 0) continue;
    const end = environment.indexOf(0, at);
    return environment.toString("utf8", at + prefix.length, end < 0 ? environment.length : end);
  }
  return undefined;
}

/**
 * Returns undefined if we may not read it. Uses one shared buffer, because most environments are small and
 * there may be thousands.
 */
function readEnvironment(pid: number): Buffer | undefined {
  const path = `/proc/${pid}/environ`;
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const length = readSync(file, buffer);
    return length < buffer.length ? buffer.subarray(0, length) : readFileSync(path);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function marked(process: Process, variable: string): MarkedProcess {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const environment = readEnvironment(process.pid);
    if (environment === undefined) break;
    if (environment.length > 0) {
      return { ...process, changing: false, marks: findVariable(environment, variable) };
    }
    // Either the environment is empty, or the process was just executing another program. Then it may be
    // readable by now.
    if (readProcess(process.pid)?.bare) return { ...process, changing: true, marks: undefined };
  }
  return { ...process, changing: false, marks: undefined };
}

export interface ScanOptions {
  readonly variable: string;
  /** Processes that started earlier are skipped unread, because no child is older than its gateway. */
  readonly since?: string;
  /** The user of the processes, if it is not ours. */
  readonly user?: Owner | undefined;
}

const ATTEMPTS = 3;
const SLICE = 32;
/** The most rounds of reading new processes. */
const ROUNDS = 50;

/**
 * Reads the table in slices, which can be spread over turns of the event loop. A process can fork and end
 * while the table is read. So new processes are read in further rounds, until there are none.
 */
function* scanning({ variable, since = "0", user }: ScanOptions): Generator<undefined, MarkedProcess[]> {
  const found: MarkedProcess[] = [];
  const seen = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const fresh = listPids().filter((pid) => !seen.has(pid));
    if (fresh.length === 0) break;
    for (const [index, name] of fresh.entries()) {
      seen.add(name);
      const process = readProcess(Number(name));
      if (process && !(Number(process.start) < Number(since))) {
        found.push(marked(process, variable));
      }
      if (index % SLICE === SLICE - 1) yield;
    }
  }
  return user ? withMarksOf(user, variable, found) : found;
}

function listPids(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

export async function scan(options: ScanOptions): Promise<MarkedProcess[]> {
  const work = scanning(options);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}

/** Blocks the event loop. For a process that is about to exit. */
export function scanNow(options: ScanOptions): MarkedProcess[] {
  const work = scanning(options);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Concurrent callers share one reading of the table, because many children may be ended in parallel. */
export class ProcessTable {
  readonly #options: ScanOptions;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<MarkedProcess[]> | undefined;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  /** The result of a reading that begins after this call. */
  read(): Promise<MarkedProcess[]> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      const reading = scan(this.#options);
      this.#running = reading.catch(() => {}); // The next reading runs even if this one fails.
      return reading;
    });
    return this.#next;
  }

  readNow(): MarkedProcess[] {
    return scanNow(this.#options);
  }
}

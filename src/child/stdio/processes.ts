/** The process table of Linux, as /proc tells it. Elsewhere it is empty. Reads only; entries that vanish or are closed to us are skipped. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

/** A pid alone is reused; together with its start time (clock ticks since boot) it is not. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly start: string;
}

export interface Process extends ProcessIdentity {
  readonly parent: number;
  readonly group: number;
  /** It has no place for an environment: not yet, or none that we may know of. */
  readonly bare: boolean;
}

export interface MarkedProcess extends Process {
  /** The value of the variable, if its environment has it. */
  readonly marks: string | undefined;
  /** In the middle of becoming another program: what it carries cannot be read yet. */
  readonly changing: boolean;
}

const KERNEL_THREAD = 0x0020_0000;

/** Undefined when it is gone, a zombie included: nothing of that one runs any more. */
export function readProcess(pid: number): Process | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // The second field is the program's name and may hold blanks and brackets itself.
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

/** Whether this system shows its processes at all; else nothing here finds any. */
export const hasTable = readProcess(process.pid) !== undefined;

export function isSame(known: ProcessIdentity): boolean {
  return readProcess(known.pid)?.start === known.start;
}

/** For what was recognised before: one that is ending, or has become another program, shows its mark no more. */
export function isAmong(known: readonly ProcessIdentity[], one: ProcessIdentity): boolean {
  return known.some(({ pid, start }) => pid === one.pid && start === one.start);
}

const buffer = Buffer.allocUnsafeSlow(128 * 1024);

/** One variable of the environment a process was started with. */
export function readVariable(pid: number, name: string): string | undefined {
  const environment = readEnvironment(pid);
  return environment && findVariable(environment, name);
}

function findVariable(environment: Buffer, name: string): string | undefined {
  const wanted = `${name}=`;
  for (let at = environment.indexOf(wanted); at >= 0; at = environment.indexOf(wanted, at + 1)) {
    if (at > 0 && environment[at - 1] !== 0) continue;
    const end = environment.indexOf(0, at);
    return environment.toString("utf8", at + wanted.length, end < 0 ? environment.length : end);
  }
  return undefined;
}

/** Undefined if it is closed to us. Into one buffer for all: most are small, and there may be thousands. */
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
    // Empty in truth, or it was between two programs when it was read. Then it may have changed again by now.
    if (readProcess(process.pid)?.bare) return { ...process, changing: true, marks: undefined };
  }
  return { ...process, changing: false, marks: undefined };
}

export interface ScanOptions {
  readonly variable: string;
  /** Who started earlier is left out unread: no child is older than its gateway. */
  readonly since?: string;
}

const ATTEMPTS = 3;
const SLICE = 32;
/** More than enough to catch up with whoever starts processes meanwhile. */
const ROUNDS = 50;

/**
 * Reads the table slice by slice, so that it can be spread over turns of the event loop. A process can fork and die
 * while the table is read; so what is new is read again, until nothing is.
 */
function* scanning({ variable, since = "0" }: ScanOptions): Generator<undefined, MarkedProcess[]> {
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
  return found;
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

/** Blocks the event loop; for a process that is about to exit. */
export function scanNow(options: ScanOptions): MarkedProcess[] {
  const work = scanning(options);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** One reading for all who ask at the same time: children are ended in parallel. */
export class ProcessTable {
  readonly #options: ScanOptions;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<MarkedProcess[]> | undefined;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  /** A reading that begins after this call. */
  read(): Promise<MarkedProcess[]> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      const reading = scan(this.#options);
      this.#running = reading;
      return reading;
    });
    return this.#next;
  }

  readNow(): MarkedProcess[] {
    return scanNow(this.#options);
  }
}

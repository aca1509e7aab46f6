/** The process table of Linux, as /proc tells it. Elsewhere it is empty. Reads only; entries that vanish or are closed to us are skipped. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

/** A pid alone is reused; together with its start time (clock ticks since boot) it is not. */
export interface Identity {
  readonly pid: number;
  readonly start: string;
}

export interface Process extends Identity {
  readonly parent: number;
  readonly group: number;
}

export interface MarkedProcess extends Process {
  /** The value of the variable, if its environment has it. */
  readonly marks: string | undefined;
}

/** Undefined when it is gone, a zombie included: nothing of that one runs any more. */
export function readProcess(pid: number): Process | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // The second field is the program's name and may hold blanks and brackets itself.
  const [state, parent, group, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const start = rest[16];
  if (start === undefined || state === "Z" || state === "X") return undefined;
  return { pid, start, parent: Number(parent), group: Number(group) };
}

/** Whether this system shows its processes at all; else nothing here finds any. */
export const hasTable = readProcess(process.pid) !== undefined;

export function isSame(known: Identity): boolean {
  return readProcess(known.pid)?.start === known.start;
}

const buffer = Buffer.allocUnsafeSlow(128 * 1024);

/** One variable of the environment a process was started with. */
export function readVariable(pid: number, name: string): string | undefined {
  let environment: Buffer;
  try {
    environment = readEnvironment(`/proc/${pid}/environ`);
  } catch {
    return undefined;
  }
  const wanted = `${name}=`;
  for (let at = environment.indexOf(wanted); at >= 0; at = environment.indexOf(wanted, at + 1)) {
    if (at > 0 && environment[at - 1] !== 0) continue;
    const end = environment.indexOf(0, at);
    return environment.toString("utf8", at + wanted.length, end < 0 ? environment.length : end);
  }
  return undefined;
}

/** Into one buffer for all: most environments are small, and there may be thousands. */
function readEnvironment(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const length = readSync(file, buffer);
    return length < buffer.length ? buffer.subarray(0, length) : readFileSync(path);
  } finally {
    closeSync(file);
  }
}

export interface ScanOptions {
  readonly variable: string;
  /** Who started earlier is left out unread: no child is older than its gateway. */
  readonly since?: string;
}

const SLICE = 32;
const ROUNDS = 5;

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
        found.push({ ...process, marks: readVariable(process.pid, variable) });
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

/**
 * Records of children, for systems on which no process can read the environment of another (macOS). Each
 * gateway writes one file with its children and their start times, as `ps` prints them. A recorded child that
 * still has the same start time is ended with its group. Processes outside of the group, or whose child has
 * ended, are not found.
 */
import { execFile } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { readIfThere, writeAtomic } from "../../home/file.ts";
import { send } from "./process-tree.ts";
import type { ProcessIdentity } from "./processes.ts";
import type { EndableProcesses } from "./stop.ts";

interface Recorded {
  readonly gateway: ProcessIdentity;
  readonly children: readonly ProcessIdentity[];
}

/**
 * The record of this process. Writes are serialized. If one fails, only the clean-up after a crash is
 * affected.
 */
export class RunRecord {
  readonly #path: string;
  #children = new Map<number, ProcessIdentity>();
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#path = join(folder, `${process.pid}.json`);
  }

  add(pid: number): void {
    this.#change(async () => {
      const start = (await startTimes()).get(pid);
      if (start !== undefined) this.#children.set(pid, { pid, start });
    });
  }

  remove(pid: number): void {
    this.#change(async () => {
      this.#children.delete(pid);
    });
  }

  /** Resolves when all changes are written. */
  written(): Promise<void> {
    return this.#writing;
  }

  #change(apply: () => Promise<void>): void {
    this.#writing = this.#writing.then(apply).then(
      () => this.#write(),
      () => {},
    );
  }

  async #write(): Promise<void> {
    if (this.#children.size === 0) return await rm(this.#path, { force: true });
    const start = (await startTimes()).get(process.pid);
    if (start === undefined) return;
    const recorded: Recorded = {
      gateway: { pid: process.pid, start },
      children: [...this.#children.values()],
    };
    await writeAtomic(this.#path, JSON.stringify(recorded), { durable: false });
  }
}

/** Calls `endAll` for the children of each dead gateway, then deletes its record. */
export async function endRecorded(
  folder: string,
  endAll: (processes: EndableProcesses) => Promise<void>,
): Promise<void> {
  const files = await readdir(folder).catch(() => []);
  for (const file of files.filter((name) => /^\d+\.json$/.test(name))) {
    const recorded = parse(await readIfThere(join(folder, file)));
    const alive = await startTimes();
    if (recorded && alive.get(recorded.gateway.pid) === recorded.gateway.start) continue;
    if (recorded) await endAll(new RecordedChildren(recorded.children));
    await rm(join(folder, file), { force: true });
  }
}

class RecordedChildren implements EndableProcesses {
  #known: readonly ProcessIdentity[];

  constructor(children: readonly ProcessIdentity[]) {
    this.#known = children;
  }

  isAnyAlive(): boolean {
    return this.#known.some(({ pid }) => send(pid, 0));
  }

  async findAlive(): Promise<boolean> {
    const alive = await startTimes();
    this.#known = this.#known.filter(({ pid, start }) => alive.get(pid) === start);
    return this.#known.length > 0;
  }

  signal(name: NodeJS.Signals): void {
    for (const { pid } of this.#known) send(-pid, name);
  }

  get survivors(): readonly number[] {
    return this.#known.map(({ pid }) => pid);
  }
}

function parse(text: string | undefined): Recorded | undefined {
  try {
    const value = JSON.parse(text ?? "") as Partial<Recorded> | null;
    const whole =
      isIdentity(value?.gateway) && Array.isArray(value?.children) && value.children.every(isIdentity);
    return whole ? (value as Recorded) : undefined;
  } catch {
    return undefined;
  }
}

/** Rejects pid 1: `kill(-1)` would signal all processes. */
function isIdentity(value: Partial<ProcessIdentity> | null | undefined): boolean {
  return Number.isInteger(value?.pid) && Number(value?.pid) > 1 && typeof value?.start === "string";
}

/**
 * Start times by pid, without zombies. The locale and time zone are fixed, because another process compares
 * the texts.
 */
async function startTimes(): Promise<Map<number, string>> {
  const options = { env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" }, maxBuffer: 1 << 26 };
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,stat=,lstart="], options);
  const found = new Map<number, string>();
  for (const line of stdout.split("\n")) {
    const [, pid, state, start] = /^\s*(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    if (start !== undefined && !state?.startsWith("Z")) found.set(Number(pid), start);
  }
  return found;
}

/**
 * Where no process can read another's environment (macOS), a gateway writes down which children it started, with their
 * start times as `ps` prints them: one file per gateway in a folder of ours. Only a child that is still the one written
 * down is ended, with its group; what left the group, or outlived the child in it, is not found.
 */
import { execFile } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { readIfThere, writeAtomic } from "../../home/file.ts";
import { send } from "./family.ts";
import type { ProcessIdentity } from "./processes.ts";
import type { Remains } from "./stop.ts";

interface Recorded {
  readonly gateway: ProcessIdentity;
  readonly children: readonly ProcessIdentity[];
}

/** The children of this process, kept on disk. Writes follow one another; a failed one costs only the safety net. */
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

  /** When all that was asked for is written. */
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

/** Hands over what each dead gateway left, then forgets that gateway. */
export async function endRecorded(
  folder: string,
  endAll: (remains: Remains) => Promise<void>,
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

class RecordedChildren implements Remains {
  #known: readonly ProcessIdentity[];

  constructor(children: readonly ProcessIdentity[]) {
    this.#known = children;
  }

  stirs(): boolean {
    return this.#known.some(({ pid }) => send(pid, 0));
  }

  async look(): Promise<boolean> {
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

/** A signal to group 1 would go to everybody. */
function isIdentity(value: Partial<ProcessIdentity> | null | undefined): boolean {
  return Number.isInteger(value?.pid) && Number(value?.pid) > 1 && typeof value?.start === "string";
}

/** By pid, zombies left out. In one language and time zone, whatever ours is: they are compared by another process. */
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

/**
 * All that one spawn began: the child, its process group and, on Linux, whatever carries its mark. Decides who belongs
 * and signals them; when to is decided in stop.ts. Never signals a number that may have become another's.
 */
import { carries } from "./mark.ts";
import { hasTable, isAmong, isSame, type MarkedProcess, type ProcessTable } from "./processes.ts";
import type { Remains } from "./stop.ts";

export class Family implements Remains {
  readonly pid: number;
  readonly mark: string;
  readonly #table: ProcessTable;
  /** What the last look found alive. */
  #known: MarkedProcess[] = [];
  #childLives = true;
  /** Once empty, the number of the group is free for others; it is not asked for again. */
  #groupEmpty = false;

  constructor(pid: number, mark: string, table: ProcessTable) {
    this.pid = pid;
    this.mark = mark;
    this.#table = table;
  }

  /** Must be called as soon as the child is reaped: until then its number cannot be reused. */
  childExited(): void {
    this.#childLives = false;
    this.stirs();
  }

  stirs(): boolean {
    if (this.#childLives) return true;
    if (!this.#groupEmpty && !reaches(-this.pid)) this.#groupEmpty = true;
    return !this.#groupEmpty || this.#known.some(isSame);
  }

  async look(): Promise<boolean> {
    if (!hasTable) return this.stirs();
    return this.#sort(await this.#table.read());
  }

  #sort(table: readonly MarkedProcess[]): boolean {
    this.#known = table.filter((one) => {
      const { pid, group, marks } = one;
      const ours =
        carries(marks, this.mark) || (!this.#groupEmpty && group === this.pid) || isAmong(this.#known, one);
      // What changed its user is out of our reach.
      return ours && pid !== process.pid && reaches(pid);
    });
    // Only zombies are left in it, which nobody reaps where there is no proper init.
    if (!this.#childLives && !this.#known.some((one) => one.group === this.pid)) this.#groupEmpty = true;
    // One of ours may be among those whose mark cannot be read yet: only another look can tell.
    const unclear = table.some(({ pid, changing }) => changing && reaches(pid));
    return this.#childLives || this.#known.length > 0 || unclear;
  }

  signal(name: NodeJS.Signals): void {
    if (this.#groupIsOurs()) send(-this.pid, name);
    for (const one of this.#known) {
      if (one.group !== this.pid && isSame(one)) send(one.pid, name);
    }
  }

  /** While the child or a member known by its start time lives, the group's number cannot be another's. */
  #groupIsOurs(): boolean {
    if (this.#childLives) return true;
    if (this.#groupEmpty) return false;
    return !hasTable || this.#known.some((one) => one.group === this.pid && isSame(one));
  }

  /** Without a wait, given a fresh reading; for a process that is about to exit. */
  killNow(table: readonly MarkedProcess[]): void {
    if (hasTable) this.#sort(table);
    this.signal("SIGKILL");
  }

  get survivors(): readonly number[] {
    return hasTable ? this.#known.map((one) => one.pid) : [this.pid];
  }
}

function reaches(pid: number): boolean {
  return send(pid, 0);
}

/** Negative: a whole group. False when there is nobody, or nobody whom we may signal. */
export function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

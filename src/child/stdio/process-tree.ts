/**
 * All processes that one spawn started: the child, its process group and, on Linux, every process with its
 * mark. It finds and signals them; stop.ts decides when. It never signals a pid that the system may have
 * reused.
 */
import { carries } from "./mark.ts";
import { hasTable, isAmong, isSame, type MarkedProcess, type ProcessTable } from "./processes.ts";
import type { EndableProcesses } from "./stop.ts";

export class ProcessTree implements EndableProcesses {
  readonly pid: number;
  readonly mark: string;
  /** The child is bubblewrap with the server inside: its end would kill the server at once. */
  readonly #confined: boolean;
  readonly #table: ProcessTable;
  /** The processes that the last `findAlive` found. */
  #known: MarkedProcess[] = [];
  #childAlive = true;
  /** Once the group is empty, the system may reuse its number, so the group is not used any more. */
  #groupEmpty = false;

  constructor(pid: number, mark: string, table: ProcessTable, confined = false) {
    this.pid = pid;
    this.#confined = confined;
    this.mark = mark;
    this.#table = table;
  }

  /** Call it as soon as the child is reaped: from then on its pid may be reused. */
  childExited(): void {
    this.#childAlive = false;
    this.isAnyAlive();
  }

  isAnyAlive(): boolean {
    if (this.#childAlive) return true;
    if (!this.#groupEmpty && !reaches(-this.pid)) this.#groupEmpty = true;
    return !this.#groupEmpty || this.#known.some(isSame);
  }

  async findAlive(): Promise<boolean> {
    if (!hasTable) return this.isAnyAlive();
    return this.#filter(await this.#table.read());
  }

  #filter(table: readonly MarkedProcess[]): boolean {
    this.#known = table.filter((one) => {
      const { pid, group, marks } = one;
      const ours =
        carries(marks, this.mark) || (!this.#groupEmpty && group === this.pid) || isAmong(this.#known, one);
      // A process that changed its user cannot be signalled.
      return ours && pid !== process.pid && reaches(pid);
    });
    // Only zombies are left in the group. Without a proper init nothing reaps them.
    if (!this.#childAlive && !this.#known.some((one) => one.group === this.pid)) this.#groupEmpty = true;
    // A process whose mark cannot be read yet may be ours. The next call will know.
    const unclear = table.some(({ pid, changing }) => changing && reaches(pid));
    return this.#childAlive || this.#known.length > 0 || unclear;
  }

  signal(name: NodeJS.Signals): void {
    if (this.#confined && name !== "SIGKILL") {
      for (const one of this.#known) if (one.pid !== this.pid && isSame(one)) send(one.pid, name);
      return;
    }
    if (this.#groupIsOurs()) send(-this.pid, name);
    for (const one of this.#known) {
      if (one.group !== this.pid && isSame(one)) send(one.pid, name);
    }
  }

  /** The number of the group cannot be reused while the child or a known member of the group is alive. */
  #groupIsOurs(): boolean {
    if (this.#childAlive) return true;
    if (this.#groupEmpty) return false;
    return !hasTable || this.#known.some((one) => one.group === this.pid && isSame(one));
  }

  /** Kills all at once, given a fresh process table. For a process that is about to exit. */
  killNow(table: readonly MarkedProcess[]): void {
    if (hasTable) this.#filter(table);
    this.signal("SIGKILL");
  }

  get survivors(): readonly number[] {
    return hasTable ? this.#known.map((one) => one.pid) : [this.pid];
  }
}

function reaches(pid: number): boolean {
  return send(pid, 0);
}

/**
 * A negative pid means the whole group. Returns false if there is no such process or we may not signal it.
 */
export function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/**
 * Ends processes that a killed gateway left behind. They are found by their mark. It runs in the background
 * and never ends a child of a running gateway, this process or its ancestors.
 */
import { isAlive } from "../../home/process-alive.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { MARK, ownGatewayId, starter } from "./mark.ts";
import type { Owner } from "./marks-of-user.ts";
import { send } from "./process-tree.ts";
import {
  hasTable,
  isAmong,
  isSame,
  type MarkedProcess,
  readProcess,
  readVariable,
  scan,
} from "./processes.ts";
import { endRecorded } from "./record.ts";
import { type EndableProcesses, end } from "./stop.ts";

export interface OrphanOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** The folder with records of children; used only on systems without /proc. */
  readonly runFolder?: string;
  /** The pid namespace whose gateways are checked; by default our own. */
  readonly space?: string;
  /** The user of the children, if it is not ours. */
  readonly user?: Owner | undefined;
}

/** Resolves when they have ended. Never rejects. */
export async function endOrphans(options: OrphanOptions): Promise<void> {
  const { log, runFolder, space = ownGatewayId().space, user } = options;
  try {
    if (hasTable) await endAll(new Orphans(space, user), options);
    else if (runFolder) await endRecorded(runFolder, (processes) => endAll(processes, options));
  } catch (error) {
    log.warn("could not look for processes left behind", { error: String(error) });
  }
}

async function endAll(processes: EndableProcesses, { log, clock }: OrphanOptions): Promise<void> {
  if (!(await processes.findAlive())) return;
  log.info("ending processes that a killed gateway left behind", { pids: processes.survivors });
  await end(processes, { log, clock, name: "processes left behind" });
}

class Orphans implements EndableProcesses {
  readonly #space: string;
  readonly #user: Owner | undefined;
  readonly #spared = ancestry(process.pid);
  #known: MarkedProcess[] = [];

  constructor(space: string, user: Owner | undefined) {
    this.#space = space;
    this.#user = user;
  }

  isAnyAlive(): boolean {
    return this.#known.some(isSame);
  }

  async findAlive(): Promise<boolean> {
    const table = await scan({ variable: MARK, user: this.#user });
    this.#known = table.filter(
      (one) => (this.#isOrphan(one) || isAmong(this.#known, one)) && send(one.pid, 0),
    );
    return this.#known.length > 0;
  }

  signal(name: NodeJS.Signals): void {
    for (const one of this.#known) {
      const marks = readVariable(one.pid, MARK) ?? (one.bare ? one.marks : undefined);
      if (isSame(one) && this.#isOrphan({ ...one, marks })) send(one.pid, name);
    }
  }

  get survivors(): readonly number[] {
    return this.#known.map((one) => one.pid);
  }

  #isOrphan({ pid, marks }: MarkedProcess): boolean {
    if (marks === undefined || this.#spared.has(pid)) return false;
    const gateway = starter(marks);
    return gateway !== undefined && gateway.space === this.#space && !isAlive(gateway.pid, gateway.start);
  }
}

/** The process and its ancestors. */
function ancestry(pid: number): Set<number> {
  const found = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && at > 0 && !found.has(at); ) {
    found.add(at);
    at = readProcess(at)?.parent;
  }
  return found;
}

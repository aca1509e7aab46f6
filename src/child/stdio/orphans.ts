/**
 * Ends what a killed gateway left behind, found by its mark. Works in the background and never touches a child of a
 * gateway that lives, this process, or those it descends from.
 */
import { lives } from "../../home/living.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { send } from "./family.ts";
import { MARK, ownGatewayId, starter } from "./mark.ts";
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
import { end, type Remains } from "./stop.ts";

export interface OrphanOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Where connectors keep their records; used only where there is no /proc. */
  readonly runFolder?: string;
  /** Whose gateways can be judged: those of this pid namespace, by default our own. */
  readonly space?: string;
}

/** Resolves when they are gone. Never rejects. */
export async function endOrphans(options: OrphanOptions): Promise<void> {
  const { log, runFolder, space = ownGatewayId().space } = options;
  try {
    if (hasTable) await endAll(new Orphans(space), options);
    else if (runFolder) await endRecorded(runFolder, (remains) => endAll(remains, options));
  } catch (error) {
    log.warn("could not look for processes left behind", { error: String(error) });
  }
}

async function endAll(remains: Remains, { log, clock }: OrphanOptions): Promise<void> {
  if (!(await remains.look())) return;
  log.info("ending processes that a killed gateway left behind", { pids: remains.survivors });
  await end(remains, { log, clock, name: "processes left behind" });
}

class Orphans implements Remains {
  readonly #space: string;
  readonly #spared = ancestry(process.pid);
  #known: MarkedProcess[] = [];

  constructor(space: string) {
    this.#space = space;
  }

  stirs(): boolean {
    return this.#known.some(isSame);
  }

  async look(): Promise<boolean> {
    const table = await scan({ variable: MARK });
    this.#known = table.filter(
      (one) => (this.#isOrphan(one) || isAmong(this.#known, one)) && send(one.pid, 0),
    );
    return this.#known.length > 0;
  }

  signal(name: NodeJS.Signals): void {
    for (const one of this.#known) {
      const marks = readVariable(one.pid, MARK);
      if (isSame(one) && this.#isOrphan({ ...one, marks })) send(one.pid, name);
    }
  }

  get survivors(): readonly number[] {
    return this.#known.map((one) => one.pid);
  }

  #isOrphan({ pid, marks }: MarkedProcess): boolean {
    if (marks === undefined || this.#spared.has(pid)) return false;
    const gateway = starter(marks);
    return gateway !== undefined && gateway.space === this.#space && !lives(gateway.pid, gateway.start);
  }
}

/** Itself and all it descends from. */
function ancestry(pid: number): Set<number> {
  const found = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && at > 0 && !found.has(at); ) {
    found.add(at);
    at = readProcess(at)?.parent;
  }
  return found;
}

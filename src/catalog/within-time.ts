/**
 * Runs work with a time limit. Meant for patterns and schemas from outside; entering the VM context costs more than most
 * checks take. Node can interrupt work only after a time on the clock, in which other processes may have used the
 * processor. Work that was interrupted with little processor time is therefore repeated once, with more time on the clock.
 */
import { createContext, Script } from "node:vm";

export class OutOfTime extends Error {
  /** The work got less than half of its limit in processor time. */
  readonly starved: boolean;

  constructor(message: string, starved: boolean) {
    super(message);
    this.starved = starved;
  }
}

/** The second try gets this multiple of the limit. There is no third: on a busy machine, hostile work must not block the process for long. */
const SECOND_TRY = 2;

let context: { run?: () => unknown } | undefined;
let script: Script | undefined;

/**
 * Throws OutOfTime when the limit is reached. Loops and regular expressions are interrupted; native calls such as
 * `JSON.parse` and `indexOf` are not. The work may run twice.
 */
export function withinTime<T>(ms: number, work: () => T): T {
  try {
    return once(ms, work);
  } catch (error) {
    if (!isStarved(error)) throw error;
    return once(ms * SECOND_TRY, work);
  }
}

/** For work in steps: `begin` runs each of them with `runStep`, and each has the whole limit. The work may begin twice. */
export async function stepsWithinTime<T>(
  ms: number,
  begin: (runStep: <R>(step: () => R) => R) => Promise<T>,
): Promise<T> {
  try {
    return await begin((step) => once(ms, step));
  } catch (error) {
    if (!isStarved(error)) throw error;
    return await begin((step) => once(ms * SECOND_TRY, step));
  }
}

function isStarved(error: unknown): boolean {
  return error instanceof OutOfTime && error.starved;
}

function once<T>(ms: number, work: () => T): T {
  context ??= createContext({}) as { run?: () => unknown };
  script ??= new Script("run()");
  context.run = work;
  const before = process.cpuUsage();
  try {
    return script.runInContext(context, { timeout: ms }) as T;
  } catch (error) {
    if ((error as { code?: unknown } | undefined)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    // All threads of the process. Another busy thread makes this too much, and the work is given up earlier.
    const { user, system } = process.cpuUsage(before);
    throw new OutOfTime(`it took longer than ${ms} ms`, (user + system) / 1_000 < ms / 2);
  } finally {
    delete context.run;
  }
}

/**
 * Runs a function with a time limit. Meant for patterns and schemas from outside; entering the VM context
 * costs more than most checks take.
 */
import { createContext, Script } from "node:vm";

export class OutOfTime extends Error {}

let context: { run?: () => unknown } | undefined;
let script: Script | undefined;

/**
 * Throws OutOfTime when the limit is reached. Loops and regular expressions are interrupted; native calls
 * such as `JSON.parse` and `indexOf` are not.
 */
export function withinTime<T>(ms: number, work: () => T): T {
  context ??= createContext({}) as { run?: () => unknown };
  script ??= new Script("run()");
  context.run = work;
  try {
    return script.runInContext(context, { timeout: ms }) as T;
  } catch (error) {
    if ((error as { code?: unknown } | undefined)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new OutOfTime(`it took longer than ${ms} ms`);
  } finally {
    delete context.run;
  }
}

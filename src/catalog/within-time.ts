/** Ends work that does not end by itself. For work on what strangers wrote; it costs more than most work takes. */
import { createContext, Script } from "node:vm";

export class OutOfTime extends Error {}

let context: { run?: () => unknown } | undefined;
let script: Script | undefined;

/** Throws OutOfTime when time is up. Loops and patterns are interrupted; reading JSON and searching texts are not. */
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

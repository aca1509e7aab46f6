/** Handles a failed read of the store. */
import type { Log } from "../../kernel/log.ts";

/** Returns a handler that logs the error. The gateway continues with the state in memory. */
export function logReadFailure(log: Log, what: string): (error: Error) => void {
  return (error) =>
    log.warn(`${what} could not be read from the store: ${error.message}; the last known state stays in use`);
}

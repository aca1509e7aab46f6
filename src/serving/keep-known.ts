/** What to do where the store cannot be read anew. */
import type { Log } from "../kernel/log.ts";

/** Says it; what is in memory goes on serving. */
export function keepKnown(log: Log, what: string): (error: Error) => void {
  return (error) =>
    log.warn(`${what} could not be read from the store: ${error.message}; the last known state stays in use`);
}

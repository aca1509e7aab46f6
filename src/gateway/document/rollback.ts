/** Makes the config what it was, as a change like any other: uuids, secrets and who manages what included. */
import type { Objects } from "../objects.ts";
import { type ChangeContext, type ChangeOutcome, draftsOf, settle } from "../settle.ts";

export function rollback(objects: Objects, target: Objects, context: ChangeContext): ChangeOutcome {
  // What children list by now is no reason to refuse what was right then.
  return settle(objects, draftsOf(target), { ...context, listed: () => undefined });
}

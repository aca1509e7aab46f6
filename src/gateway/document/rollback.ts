/** Restores the objects of an earlier revision as a new change, including uuids, secrets and management. */
import type { Objects } from "../objects.ts";
import { type ChangeContext, type ChangeOutcome, draftsOf, settle } from "../settle.ts";

export function rollback(objects: Objects, target: Objects, context: ChangeContext): ChangeOutcome {
  // Tools that children list now must not prevent a rollback, so collisions with them are not checked.
  return settle(objects, draftsOf(target), { ...context, listed: () => undefined });
}

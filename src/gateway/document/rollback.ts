/** Restores the objects of an earlier revision as a new change, including uuids, secrets and management. */
import { atOnce, type Steps } from "../../kernel/steps.ts";
import type { Objects } from "../objects.ts";
import { type ChangeContext, type ChangeOutcome, draftsOf, settling } from "../settle.ts";

export function rollback(objects: Objects, target: Objects, context: ChangeContext): ChangeOutcome {
  return atOnce(rollingBack(objects, target, context));
}

/** Pauses between objects. */
export function* rollingBack(
  objects: Objects,
  target: Objects,
  context: ChangeContext,
): Steps<ChangeOutcome> {
  // Tools that children list now must not prevent a rollback, so collisions with them are not checked.
  return yield* settling(objects, draftsOf(target), { ...context, listed: () => undefined });
}

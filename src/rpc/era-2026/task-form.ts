/**
 * Converts task states between the extension of 2026-07-28 and the form of 2025-11-25, which the rest of
 * MetaMCP uses.
 */
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { entries, isObject, joinObject, member, withMember } from "../slice.ts";
import { TASKS } from "./names.ts";

const TASK = Buffer.from('"task"');
const TO_ERA_2026: ReadonlyMap<string, string> = new Map([
  ["ttl", "ttlMs"],
  ["pollInterval", "pollIntervalMs"],
]);
const FROM_ERA_2026: ReadonlyMap<string, string> = new Map(
  [...TO_ERA_2026].map(([legacy, era2026]) => [era2026, legacy]),
);
/** Members of the extension that do not belong to the state. */
const NOT_STATE: ReadonlySet<string> = new Set(["resultType", "result", "error", "inputRequests", "_meta"]);

/** Whether the result says that the child created a task. */
export function isTaskResult(result: Raw): boolean {
  return result.includes(TASK) && member(result, "resultType")?.equals(TASK) === true;
}

export function fromEra2026(task: Raw): Raw {
  const state = entries(task).filter(([key]) => !NOT_STATE.has(key));
  return joinObject(state.map(([key, value]) => [FROM_ERA_2026.get(key) ?? key, value]));
}

export function toEra2026(state: Raw): Raw {
  return joinObject(entries(state).map(([key, value]) => [TO_ERA_2026.get(key) ?? key, value]));
}

/** The capabilities with or without the tasks extension. All other bytes stay. */
export function declaringTasks(capabilities: Raw, tasks: boolean): Raw {
  if (!tasks && !capabilities.includes(TASKS)) return capabilities;
  const written = member(capabilities, "extensions");
  const extensions = written && isObject(written) ? written : asRaw(Buffer.from("{}"));
  const declared = withMember(extensions, TASKS, tasks ? toRaw({}) : undefined);
  return withMember(capabilities, "extensions", declared);
}

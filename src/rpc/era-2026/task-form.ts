/** Tasks as the extension of 2026-07-28 writes them, from and to the form of 2025-11-25 that the rest of the house knows. */
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { entries, isObject, joinObject, member, withMember } from "../slice.ts";
import { TASKS } from "./names.ts";

const TASK = Buffer.from('"task"');
/** Of the other era by our name. */
const OTHERWISE: ReadonlyMap<string, string> = new Map([
  ["ttl", "ttlMs"],
  ["pollInterval", "pollIntervalMs"],
]);
const BACK: ReadonlyMap<string, string> = new Map([...OTHERWISE].map(([own, other]) => [other, own]));
/** What the extension says beside the state. */
const BESIDE: ReadonlySet<string> = new Set(["resultType", "result", "error", "inputRequests", "_meta"]);

/** Whether a result says that a task was made instead. */
export function isTaskResult(result: Raw): boolean {
  return result.includes(TASK) && member(result, "resultType")?.equals(TASK) === true;
}

export function fromEra2026(task: Raw): Raw {
  const state = entries(task).filter(([key]) => !BESIDE.has(key));
  return joinObject(state.map(([key, value]) => [BACK.get(key) ?? key, value]));
}

export function toEra2026(state: Raw): Raw {
  return joinObject(entries(state).map(([key, value]) => [OTHERWISE.get(key) ?? key, value]));
}

/** Capabilities that say whether tasks are understood; all else in them as it is. */
export function declaringTasks(capabilities: Raw, tasks: boolean): Raw {
  if (!tasks && !capabilities.includes(TASKS)) return capabilities;
  const written = member(capabilities, "extensions");
  const extensions = written && isObject(written) ? written : asRaw(Buffer.from("{}"));
  const declared = withMember(extensions, TASKS, tasks ? toRaw({}) : undefined);
  return withMember(capabilities, "extensions", declared);
}

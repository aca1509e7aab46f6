/**
 * Task states and `related-task` marks of 2025-11-25, for both sides of the gateway. In between, a call has
 * one result, whether or not it runs as a task.
 */
import { EMPTY_OBJECT, type Raw, scalarOf, toRaw } from "../kernel/raw.ts";
import { entries, isObject, joinObject, member, members, withMember } from "./slice.ts";

const RELATED = "io.modelcontextprotocol/related-task";
const RELATED_BYTES = Buffer.from(RELATED);

/** The id of the task that a message names in its `_meta`. */
export function relatedTask(params: Raw | undefined): string | undefined {
  if (!params?.includes(RELATED_BYTES)) return undefined;
  const meta = member(params, "_meta");
  const related = meta && isObject(meta) ? member(meta, RELATED) : undefined;
  return related && isObject(related) ? textOf(member(related, "taskId")) : undefined;
}

/** Adds the id of the task to the `_meta` of params or a result. */
export function withRelatedTask(message: Raw = EMPTY_OBJECT, taskId: string): Raw {
  const meta = member(message, "_meta");
  const related = withMember(meta && isObject(meta) ? meta : EMPTY_OBJECT, RELATED, toRaw({ taskId }));
  return withMember(message, "_meta", related);
}

/** Removes the id of the task, which is meaningless beyond the peer that gave it. */
export function withoutRelatedTask(message: Raw): Raw {
  if (!message.includes(RELATED_BYTES)) return message;
  const meta = member(message, "_meta");
  if (!meta || !isObject(meta)) return message;
  const kept = entries(meta).filter(([key]) => key !== RELATED);
  return withMember(message, "_meta", kept.length > 0 ? joinObject(kept) : undefined);
}

/** The members of a task state that MetaMCP uses. */
export interface TaskState {
  readonly taskId: string;
  readonly status: string;
  readonly ttl: number | undefined;
  readonly pollInterval: number | undefined;
}

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

export function hasEnded({ status }: TaskState): boolean {
  return ENDED.has(status);
}

/** Returns undefined if it is no valid task state. */
export function readTaskState(raw: Raw | undefined): TaskState | undefined {
  if (!raw || !isObject(raw)) return undefined;
  const [id, state, ttl, interval] = members(raw, ["taskId", "status", "ttl", "pollInterval"]);
  const [taskId, status] = [textOf(id), textOf(state)];
  if (taskId === undefined || status === undefined) return undefined;
  return { taskId, status, ttl: numberOf(ttl), pollInterval: numberOf(interval) };
}

function textOf(raw: Raw | undefined): string | undefined {
  const value = scalarOf(raw);
  return typeof value === "string" ? value : undefined;
}

function numberOf(raw: Raw | undefined): number | undefined {
  const value = scalarOf(raw);
  return typeof value === "number" && value >= 0 ? value : undefined;
}

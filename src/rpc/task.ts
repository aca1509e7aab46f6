/** The words of tasks (2025-11-25) that both edges use. In between there are none: a call has one result, however it is run. */
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { entries, isObject, joinObject, member, members, withMember } from "./slice.ts";

const RELATED = "io.modelcontextprotocol/related-task";
const RELATED_BYTES = Buffer.from(RELATED);

/** The task that a message says it belongs to. */
export function relatedTask(params: Raw | undefined): string | undefined {
  if (!params?.includes(RELATED_BYTES)) return undefined;
  const meta = member(params, "_meta");
  const related = meta && isObject(meta) ? member(meta, RELATED) : undefined;
  return related && isObject(related) ? textOf(member(related, "taskId")) : undefined;
}

/** Params or a result that say which task they belong to. */
export function withRelatedTask(message: Raw = EMPTY_OBJECT, taskId: string): Raw {
  const meta = member(message, "_meta");
  const related = withMember(meta && isObject(meta) ? meta : EMPTY_OBJECT, RELATED, toRaw({ taskId }));
  return withMember(message, "_meta", related);
}

/** A task's id means something to who was given it, and to nobody further on. */
export function withoutRelatedTask(message: Raw): Raw {
  if (!message.includes(RELATED_BYTES)) return message;
  const meta = member(message, "_meta");
  if (!meta || !isObject(meta)) return message;
  const kept = entries(meta).filter(([key]) => key !== RELATED);
  return withMember(message, "_meta", kept.length > 0 ? joinObject(kept) : undefined);
}

/** What matters of a task's state. */
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

/** Undefined for what is no state of a task. */
export function readTaskState(raw: Raw | undefined): TaskState | undefined {
  if (!raw || !isObject(raw)) return undefined;
  const [id, state, ttl, interval] = members(raw, ["taskId", "status", "ttl", "pollInterval"]);
  const [taskId, status] = [textOf(id), textOf(state)];
  if (taskId === undefined || status === undefined) return undefined;
  return { taskId, status, ttl: numberOf(ttl), pollInterval: numberOf(interval) };
}

function textOf(raw: Raw | undefined): string | undefined {
  const value = raw && fromRaw(raw);
  return typeof value === "string" ? value : undefined;
}

function numberOf(raw: Raw | undefined): number | undefined {
  const value = raw && fromRaw(raw);
  return typeof value === "number" && value >= 0 ? value : undefined;
}

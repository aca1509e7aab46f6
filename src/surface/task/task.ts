/**
 * One task of one client: a tool call that continues after its request was answered. Holds state and outcome;
 * the forms of the eras are elsewhere.
 */
import type { CreatedTask, Origin } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { kept, type Raw, toRaw } from "../../kernel/raw.ts";
import type { CallSignal } from "../../kernel/signal.ts";
import type { RpcError } from "../../rpc/rpc-error.ts";
import { member, withMember } from "../../rpc/slice.ts";
import { hasEnded, readTaskState } from "../../rpc/task.ts";
import { textsOf } from "../result/value.ts";
import { TaskQuestions } from "./questions.ts";

export type TaskOutcome = { readonly result: Raw } | { readonly error: RpcError } | "cancelled";

export interface TaskParts {
  readonly id: string;
  readonly origin: Origin;
  /** Cancels the call. */
  readonly signal: CallSignal;
  /** How long the client wants the task kept, in milliseconds. */
  readonly ttl: number | undefined;
  /** The current time in ISO 8601. */
  readonly time: () => string;
  /** Called when the task has changed. */
  onChange(task: Task): void;
}

/** The poll interval for a task that the server does not run as a task itself. */
const POLL_MS = 1_000;
const DEFAULT_TTL_MS = 3_600_000;
const LONGEST_TTL_MS = 24 * DEFAULT_TTL_MS;
const LONGEST_REASON = 500;

export class Task {
  readonly id: string;
  readonly origin: Origin;
  readonly questions = new TaskQuestions(() => this.#changed());
  readonly #parts: TaskParts;
  /** As the server wrote it, if the server runs it as a task. */
  #state: Raw;
  #refresh: (() => Promise<void>) | undefined;
  /** Settles when the server has answered the request for the state that is under way. */
  #refreshing: Promise<void> | undefined;
  #outcome: TaskOutcome | undefined;
  #endListeners: (() => void)[] = [];
  readonly #watchers = new Set<() => void>();

  constructor(parts: TaskParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.origin = parts.origin;
    const [createdAt, ttl] = [parts.time(), limitedTtl(parts.ttl)];
    this.#state = toRaw({
      taskId: this.id,
      status: "working",
      createdAt,
      lastUpdatedAt: createdAt,
      ttl,
      pollInterval: POLL_MS,
    });
  }

  get outcome(): TaskOutcome | undefined {
    return this.#outcome;
  }

  /** The tool returned a result with `isError`. */
  get failed(): boolean {
    const outcome = this.#outcome;
    if (typeof outcome !== "object" || !("result" in outcome)) return false;
    return member(outcome.result, "isError")?.toString() === "true";
  }

  /**
   * The status of a running task. If the server says that the task has ended, it still counts as working
   * until its result is here.
   */
  get phase(): string {
    if (this.questions.size > 0) return "input_required";
    const state = readTaskState(this.#state);
    return state && !hasEnded(state) ? state.status : "working";
  }

  /** Milliseconds from creation until the task is removed. */
  get ttl(): number {
    return readTaskState(this.#state)?.ttl ?? DEFAULT_TTL_MS;
  }

  get bytes(): number {
    const outcome = this.#outcome;
    return typeof outcome === "object" && "result" in outcome ? outcome.result.length : 0;
  }

  /** The state in the form of 2025-11-25, with the given status. */
  state(status: string): Raw {
    const state = withMember(this.#state, "status", toRaw(status));
    const reason = this.#reason();
    return reason === undefined ? state : withMember(state, "statusMessage", toRaw(reason));
  }

  /** Links the task to a task of the server that runs the call. */
  linkTo({ state, refresh }: CreatedTask): void {
    this.#refresh = refresh;
    this.updateState(state);
  }

  /** Takes over a state of the server's task. */
  updateState(state: Raw): void {
    if (this.#outcome) return;
    const read = readTaskState(state);
    const ttl = limitedTtl(read?.ttl ?? this.#parts.ttl);
    this.#state = kept(withMember(withMember(state, "taskId", toRaw(this.id)), "ttl", toRaw(ttl)));
    // The end is reported by `end`, together with the result.
    if (read && !hasEnded(read)) this.#changed();
  }

  /**
   * Requests the current state from the server, if the server runs it as a task. Only once at a time, however
   * many clients ask.
   */
  async refresh(): Promise<void> {
    if (this.#outcome) return;
    this.#refreshing ??= this.#refresh?.()
      .catch(() => {})
      .finally(() => {
        this.#refreshing = undefined;
      });
    await this.#refreshing;
  }

  end(outcome: TaskOutcome): void {
    if (this.#outcome) return;
    this.#outcome = outcome;
    this.#state = withMember(this.#state, "lastUpdatedAt", toRaw(this.#parts.time()));
    this.questions.refuseAll("the task it belongs to has ended");
    for (const listener of this.#endListeners.splice(0)) listener();
    this.#changed();
  }

  /** Ends the task and cancels the call at its server. */
  cancel(reason: string): void {
    this.end("cancelled");
    this.#parts.signal.abort(new MetaMcpError("cancelled", reason));
  }

  /** Resolves when the task has ended. */
  ended(): Promise<void> {
    return this.#outcome
      ? Promise.resolve()
      : new Promise((resolve) => void this.#endListeners.push(resolve));
  }

  /** Calls `changed` after each change. Returns the function that stops this. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => void this.#watchers.delete(changed);
  }

  #changed(): void {
    this.#parts.onChange(this);
    for (const changed of this.#watchers) changed();
  }

  /** Why the task failed or was cancelled. */
  #reason(): string | undefined {
    const outcome = this.#outcome;
    if (outcome === "cancelled") return "The task was cancelled.";
    if (outcome && "error" in outcome) return outcome.error.message.slice(0, LONGEST_REASON);
    if (!outcome || !this.failed) return undefined;
    return textsOf(outcome.result).join("\n").slice(0, LONGEST_REASON) || undefined;
  }
}

/** In milliseconds. */
export function limitedTtl(ttl: number = DEFAULT_TTL_MS): number {
  return Math.min(ttl, LONGEST_TTL_MS);
}

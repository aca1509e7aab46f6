/** One task of one client: a tool call that goes on after it was answered. Knows how it stands and what it led to; each era writes that down in its own way. */
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
  /** Gives it up. */
  readonly signal: CallSignal;
  /** For how long the client wants its result kept, in milliseconds. */
  readonly ttl: number | undefined;
  /** The time of day, as ISO 8601 writes it. */
  readonly time: () => string;
  /** Something about it is other than before. */
  onChange(task: Task): void;
}

/** How often a client should ask after a task that no server runs as one. */
const POLL_MS = 1_000;
const KEPT_MS = 3_600_000;
const LONGEST_KEPT_MS = 24 * KEPT_MS;
const LONGEST_REASON = 500;

export class Task {
  readonly id: string;
  readonly origin: Origin;
  readonly questions = new TaskQuestions(() => this.#changed());
  readonly #parts: TaskParts;
  /** As its server wrote it, where one runs it as a task. */
  #state: Raw;
  #refresh: (() => Promise<void>) | undefined;
  #outcome: TaskOutcome | undefined;
  #over: (() => void)[] = [];
  readonly #watchers = new Set<() => void>();

  constructor(parts: TaskParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.origin = parts.origin;
    const [createdAt, ttl] = [parts.time(), keptFor(parts.ttl)];
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

  /** The tool itself says that it failed. */
  get failed(): boolean {
    const outcome = this.#outcome;
    if (typeof outcome !== "object" || !("result" in outcome)) return false;
    return member(outcome.result, "isError")?.toString() === "true";
  }

  /** While it runs. A server's word that it has ended counts once its result is here. */
  get phase(): string {
    if (this.questions.size > 0) return "input_required";
    const told = readTaskState(this.#state);
    return told && !hasEnded(told) ? told.status : "working";
  }

  /** From its creation on, in milliseconds. */
  get ttl(): number {
    return readTaskState(this.#state)?.ttl ?? KEPT_MS;
  }

  get bytes(): number {
    const outcome = this.#outcome;
    return typeof outcome === "object" && "result" in outcome ? outcome.result.length : 0;
  }

  /** How it stands, in the form of 2025-11-25. */
  state(status: string): Raw {
    const state = withMember(this.#state, "status", toRaw(status));
    const reason = this.#reason();
    return reason === undefined ? state : withMember(state, "statusMessage", toRaw(reason));
  }

  /** Its server runs it as a task too. */
  backedBy({ state, refresh }: CreatedTask): void {
    this.#refresh = refresh;
    this.told(state);
  }

  /** How its server says it stands. */
  told(state: Raw): void {
    if (this.#outcome) return;
    const read = readTaskState(state);
    const ttl = keptFor(read?.ttl ?? this.#parts.ttl);
    this.#state = kept(withMember(withMember(state, "taskId", toRaw(this.id)), "ttl", toRaw(ttl)));
    // Its end is told with its result.
    if (read && !hasEnded(read)) this.#changed();
  }

  /** Resolves when all is known that its server can tell now. */
  async refresh(): Promise<void> {
    if (!this.#outcome) await this.#refresh?.().catch(() => {});
  }

  end(outcome: TaskOutcome): void {
    if (this.#outcome) return;
    this.#outcome = outcome;
    this.#state = withMember(this.#state, "lastUpdatedAt", toRaw(this.#parts.time()));
    this.questions.refuseAll("the task it belongs to has ended");
    for (const wake of this.#over.splice(0)) wake();
    this.#changed();
  }

  /** Its server is told. */
  cancel(reason: string): void {
    this.end("cancelled");
    this.#parts.signal.abort(new MetaMcpError("cancelled", reason));
  }

  over(): Promise<void> {
    return this.#outcome ? Promise.resolve() : new Promise((resolve) => void this.#over.push(resolve));
  }

  /** Called whenever something about it is other than before, until the result is called. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => void this.#watchers.delete(changed);
  }

  #changed(): void {
    this.#parts.onChange(this);
    for (const changed of this.#watchers) changed();
  }

  /** What a person should know of how it ended. */
  #reason(): string | undefined {
    const outcome = this.#outcome;
    if (outcome === "cancelled") return "The task was cancelled.";
    if (outcome && "error" in outcome) return outcome.error.message.slice(0, LONGEST_REASON);
    if (!outcome || !this.failed) return undefined;
    return textsOf(outcome.result).join("\n").slice(0, LONGEST_REASON) || undefined;
  }
}

function keptFor(ttl: number = KEPT_MS): number {
  return Math.min(ttl, LONGEST_KEPT_MS);
}

/**
 * A task that runs at a child. Polls its state at the interval that the child wants, and on request, until
 * the task has ended.
 */
import type { Clock, Timer } from "../../kernel/clock.ts";
import { kept, type Raw } from "../../kernel/raw.ts";
import { aborted, CallSignal, type Signal } from "../../kernel/signal.ts";
import { INTERNAL_ERROR, RpcError } from "../../rpc/rpc-error.ts";
import { hasEnded, readTaskState, type TaskState } from "../../rpc/task.ts";
import type { Claim } from "../claim.ts";
import { ChildFailure } from "../link.ts";

/** Used if the child gives no interval. */
const DEFAULT_POLL_MS = 1_000;
const SHORTEST_POLL_MS = 20;
const LONGEST_POLL_MS = 60_000;
/**
 * How often the timer of the call is reset between two polls. The wait that the child asked for must not
 * count as its silence.
 */
const TOUCH_MS = 200;

export interface ChildTaskParts {
  readonly clock: Clock;
  readonly claim: Claim;
  /** Asks the child for the state of the task. */
  get(taskId: string, signal: Signal): Promise<Raw>;
  /** Tells the child that the result is no longer needed. */
  cancel(taskId: string): void;
  /** Converts an answer to a task state in the form of 2025-11-25. */
  form(answer: Raw): Raw;
}

export class ChildTask {
  readonly id: string;
  /** Aborted when the caller cancels or the connection is lost. */
  readonly stopped = new CallSignal();
  readonly #parts: ChildTaskParts;
  #state: TaskState;
  /** The last answer of the child about the task, as written. */
  #answer: Raw;
  #timer: Timer | undefined;
  #wake: (() => void) | undefined;

  constructor(parts: ChildTaskParts, state: TaskState, answer: Raw) {
    this.#parts = parts;
    this.#state = state;
    this.#answer = answer;
    this.id = state.taskId;
  }

  get status(): string {
    return this.#state.status;
  }

  get ended(): boolean {
    return hasEnded(this.#state);
  }

  get answer(): Raw {
    return this.#answer;
  }

  /**
   * Tells the caller about the task and runs `work`. Call it once. The child has accepted the call, so it is
   * never sent again.
   */
  async follow(work: () => Promise<Raw>, signal: Signal, meta?: Raw): Promise<Raw> {
    const { claim } = this.#parts;
    const stop = (): void => this.stop(signal.reason as Error);
    claim.running = this;
    claim.repeat = "unsafe";
    claim.begun = true;
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    const state = kept(this.#parts.form(this.#answer));
    claim.task?.request?.created({ state, meta: meta && kept(meta), refresh: () => this.refresh() });
    try {
      return await Promise.race([work(), aborted(this.stopped)]);
    } catch (error) {
      throw withoutSessionLoss(error);
    } finally {
      if (this.stopped.aborted) this.#parts.cancel(this.id);
      signal.removeEventListener("abort", stop);
      claim.running = undefined;
      this.#timer?.cancel();
    }
  }

  stop(reason: Error): void {
    this.stopped.abort(reason);
  }

  /** Takes a new state from the child. */
  update(answer: Raw): void {
    const form = this.#parts.form(answer);
    const state = readTaskState(form);
    if (state?.taskId !== this.id) return;
    this.#state = state;
    this.#answer = answer;
    this.#parts.claim.task?.request?.changed(kept(form));
    this.#parts.claim.timer?.touch();
    this.#wake?.();
  }

  async refresh(): Promise<void> {
    this.update(await this.#parts.get(this.id, this.stopped));
  }

  /** Resolves when there is a new state: after the next poll, or earlier if the child reports it. */
  async next(): Promise<void> {
    const { pollInterval = DEFAULT_POLL_MS } = this.#state;
    const woken = await this.#pause(Math.min(Math.max(pollInterval, SHORTEST_POLL_MS), LONGEST_POLL_MS));
    if (woken) return;
    try {
      await this.refresh();
    } catch (error) {
      if (error instanceof RpcError) throw lost(error);
      // One poll was lost on the network. If all are, the timeout of the call ends it.
      if (!(error instanceof ChildFailure) || !isTransient(error)) throw error;
    }
  }

  /** Resolves to true if a new state arrived before the time was over. */
  #pause(ms: number): Promise<boolean> {
    const { clock, claim } = this.#parts;
    const end = clock.now() + ms;
    return new Promise((resolve) => {
      const leave = (woken: boolean): void => {
        this.#timer?.cancel();
        this.#wake = undefined;
        resolve(woken);
      };
      const wait = (): void => {
        const left = end - clock.now();
        if (left <= 0) return leave(false);
        this.#timer = clock.after(Math.min(left, TOUCH_MS), () => {
          claim.timer?.touch();
          wait();
        });
      };
      this.#wake = () => leave(true);
      wait();
    });
  }
}

function isTransient({ category, sessionLost }: ChildFailure): boolean {
  return (category === "offline" || category === "http") && !sessionLost;
}

function lost({ message }: RpcError): RpcError {
  return RpcError.of(INTERNAL_ERROR, `The server no longer knows the task it was running: ${message}`);
}

/**
 * A task belongs to the session that created it. In a new session the tool would run again, so the call must
 * not be retried.
 */
function withoutSessionLoss(error: unknown): unknown {
  if (!(error instanceof ChildFailure) || !error.sessionLost) return error;
  return new ChildFailure(error.category, error.message, { needsFix: error.needsFix });
}

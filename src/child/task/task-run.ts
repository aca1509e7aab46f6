/** A task at a child, followed until it has ended: the child is asked how it stands as often as it wants to be, and whenever somebody wants to know. */
import type { Clock, Timer } from "../../kernel/clock.ts";
import { kept, type Raw } from "../../kernel/raw.ts";
import { aborted, CallSignal, type Signal } from "../../kernel/signal.ts";
import { INTERNAL_ERROR, RpcError } from "../../rpc/rpc-error.ts";
import { hasEnded, readTaskState, type TaskState } from "../../rpc/task.ts";
import type { Claim } from "../claim.ts";
import { ChildFailure } from "../link.ts";

/** For a child that does not say how often. */
const POLL_MS = 1_000;
/** Nobody is asked more often than this, nor left alone for longer. */
const SHORTEST_POLL_MS = 20;
const LONGEST_POLL_MS = 60_000;
/** To be left alone as the child wishes is no silence of it: while we wait, its call is kept from timing out. */
const TOUCH_MS = 200;

export interface TaskRunParts {
  readonly clock: Clock;
  readonly claim: Claim;
  /** Asks how the task stands. */
  get(taskId: string, signal: Signal): Promise<Raw>;
  /** Tells the child that nobody wants its result any more. */
  cancel(taskId: string): void;
  /** The state in the form of 2025-11-25. */
  form(answer: Raw): Raw;
}

export class TaskRun {
  readonly id: string;
  /** Nobody waits for it any more, or its connection is gone. */
  readonly stopped = new CallSignal();
  readonly #parts: TaskRunParts;
  #state: TaskState;
  /** What the child last said of it, as it was written. */
  #answer: Raw;
  #timer: Timer | undefined;
  #wake: (() => void) | undefined;

  constructor(parts: TaskRunParts, state: TaskState, answer: Raw) {
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

  /** Tells the caller, and does the work; once. From now on the call is answered: it is never sent again. */
  async follow(work: () => Promise<Raw>, signal: Signal, meta?: Raw): Promise<Raw> {
    const { claim } = this.#parts;
    const stop = (): void => this.stop(signal.reason as Error);
    claim.run = this;
    claim.repeat = "unsafe";
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    const state = kept(this.#parts.form(this.#answer));
    claim.task?.wish?.created({ state, meta: meta && kept(meta), refresh: () => this.refresh() });
    try {
      return await Promise.race([work(), aborted(this.stopped)]);
    } catch (error) {
      throw forgotten(error);
    } finally {
      if (this.stopped.aborted) this.#parts.cancel(this.id);
      signal.removeEventListener("abort", stop);
      claim.run = undefined;
      this.#timer?.cancel();
    }
  }

  stop(reason: Error): void {
    this.stopped.abort(reason);
  }

  /** The child told how it stands. */
  told(answer: Raw): void {
    const form = this.#parts.form(answer);
    const state = readTaskState(form);
    if (state?.taskId !== this.id) return;
    this.#state = state;
    this.#answer = answer;
    this.#parts.claim.task?.wish?.changed(kept(form));
    this.#parts.claim.timer?.touch();
    this.#wake?.();
  }

  async refresh(): Promise<void> {
    this.told(await this.#parts.get(this.id, this.stopped));
  }

  /** Resolves when more is known of it: the child was asked when it was time to, or somebody was quicker. */
  async next(): Promise<void> {
    const { pollInterval = POLL_MS } = this.#state;
    const woken = await this.#pause(Math.min(Math.max(pollInterval, SHORTEST_POLL_MS), LONGEST_POLL_MS));
    if (woken) return;
    try {
      await this.refresh();
    } catch (error) {
      if (error instanceof RpcError) throw lost(error);
      // One request was lost on the way. If this goes on for long, it is a silence that ends the call.
      if (!(error instanceof ChildFailure) || !passes(error)) throw error;
    }
  }

  /** True: somebody was quicker. */
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

function passes({ category, sessionLost }: ChildFailure): boolean {
  return (category === "offline" || category === "http") && !sessionLost;
}

function lost({ message }: RpcError): RpcError {
  return RpcError.of(INTERNAL_ERROR, `The server no longer knows the task it was running: ${message}`);
}

/** A task belongs to the session it was made in: a new one would have to run it again. */
function forgotten(error: unknown): unknown {
  if (!(error instanceof ChildFailure) || !error.sessionLost) return error;
  return new ChildFailure(error.category, error.message);
}

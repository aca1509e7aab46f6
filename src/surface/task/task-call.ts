/**
 * A tool call that may become a task. Until the client gets the task, it is an ordinary call; after that it
 * continues without the request.
 */
import type { CreatedTask, TaskRequest, Uplink } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import { kept, type Raw, scalarOf } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { errorOf, METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { member } from "../../rpc/slice.ts";
import type { ClientRequest } from "../surface.ts";
import type { Task } from "./task.ts";
import type { Tasks } from "./tasks.ts";

/** How the client's era represents a task. */
export interface TaskForm {
  /** The client requested a task. Otherwise the server decides. */
  readonly requested: boolean;
  /** The answer to a call that became a task. */
  created(task: Task, meta: Raw | undefined): Raw;
  /** Returns why the client cannot be asked this, or undefined if it can. */
  cannotAsk(method: string, params: Raw | undefined): string | undefined;
  /** The params of a question as the client gets them. */
  question(task: Task, params: Raw | undefined): Raw | undefined;
  notify(task: Task, method: string, params: Raw | undefined): void;
  /** Called when the task has changed. */
  changed(task: Task): void;
}

export interface TaskCallParts {
  readonly tasks: Tasks;
  readonly clock: Clock;
  readonly form: TaskForm;
  /** `params.task` of 2025-11-25, as written. */
  readonly terms: Raw;
}

/**
 * A client that requested a task gets one at the latest after this time, even if the server has not answered.
 */
const LATEST_TASK_MS = 5_000;

export class TaskCall {
  readonly #parts: TaskCallParts;
  readonly #request: ClientRequest;
  readonly #signal = new CallSignal();
  /** Exists from the start if the client requested a task. The client knows it once `#announced` is true. */
  #task: Task | undefined;
  #announced = false;
  #answer: (answer: Raw) => void = () => {};

  constructor(request: ClientRequest, parts: TaskCallParts) {
    this.#request = request;
    this.#parts = parts;
  }

  /**
   * Resolves with the result of the call, or with the task that it became. Throws or rejects like the surface
   * as long as it is not a task.
   */
  run(handle: (request: ClientRequest) => Promise<Raw>, params: Raw): Promise<Raw> {
    const { signal: outer, ...request } = this.#request;
    const { clock, form } = this.#parts;
    if (form.requested) this.#task = this.#begin();
    const stop = (): void => this.#signal.abort(outer.reason);
    const taskAnswer = new Promise<Raw>((resolve) => {
      this.#answer = resolve;
    });
    const inner = {
      ...request,
      params,
      signal: this.#signal,
      uplink: this.#uplink(),
      taskRequest: this.#taskRequest(),
    };
    const finished = started(() => handle(inner)).then(
      (result) => this.#succeeded(result),
      (error: unknown) => this.#failed(error),
    );
    outer.addEventListener("abort", stop);
    const timer = form.requested ? clock.after(LATEST_TASK_MS, () => this.#becomeTask()) : undefined;
    return Promise.race([taskAnswer, finished]).finally(() => {
      timer?.cancel();
      outer.removeEventListener("abort", stop);
    });
  }

  #taskRequest(): TaskRequest {
    const { form, terms } = this.#parts;
    return {
      terms: kept(terms),
      created: (created) => this.#becomeTask(created),
      declined: () => {
        if (form.requested) this.#becomeTask();
      },
      changed: (state) => this.#task?.updateState(state),
    };
  }

  /** Answers the call with the task. */
  #becomeTask(created?: CreatedTask): void {
    try {
      this.#task ??= this.#begin();
    } catch {
      // There are too many tasks, so it stays an ordinary call.
      return;
    }
    if (created) this.#task.linkTo(created);
    if (this.#announced) return;
    this.#announced = true;
    this.#answer(this.#parts.form.created(this.#task, created?.meta));
  }

  #begin(): Task {
    const { tasks, form, terms } = this.#parts;
    const raw = member(terms, "ttl");
    const ttl = scalarOf(raw);
    return tasks.begin(this.#request.origin, {
      signal: this.#signal,
      ttl: typeof ttl === "number" && ttl > 0 ? ttl : undefined,
      onChange: (task) => {
        if (this.#announced) form.changed(task);
      },
    });
  }

  #succeeded(result: Raw): Raw | Promise<never> {
    if (this.#parts.form.requested) this.#becomeTask();
    if (!this.#announced) return result;
    this.#task?.end({ result: kept(result) });
    return never();
  }

  /** An error before the task is announced is the answer to the call. */
  #failed(error: unknown): Promise<never> {
    if (!this.#announced) {
      if (this.#task) this.#parts.tasks.drop(this.#task);
      return Promise.reject(error);
    }
    this.#task?.end({ error: error instanceof RpcError ? error : new RpcError(errorOf(error)) });
    return never();
  }

  #uplink(): Uplink {
    const { uplink } = this.#request;
    const { form } = this.#parts;
    const announced = (): Task | undefined => (this.#announced ? this.#task : undefined);
    return {
      notify: (method, params) => {
        const task = announced();
        if (task) form.notify(task, method, params);
        else uplink.notify(method, params);
      },
      request: (method, params, signal, more) => {
        const task = announced();
        if (!task) return uplink.request(method, params, signal, more);
        const refusal = form.cannotAsk(method, params);
        if (!refusal) return task.questions.ask(method, form.question(task, params), signal, more);
        const text = `${method} cannot be put to the client: ${refusal}`;
        return Promise.reject(RpcError.of(METHOD_NOT_FOUND, text));
      },
    };
  }
}

/** Calls `work`. Turns a synchronous error into a rejection. */
function started(work: () => Promise<Raw>): Promise<Raw> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error as Error);
  }
}

/** Used when the call has already been answered with the task. */
function never(): Promise<never> {
  return new Promise(() => {});
}

/** A tool call that may become a task: until its client was told so it is a call like any other, from then on it goes on by itself. */
import type { CreatedTask, TaskWish, Uplink } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import { fromRaw, kept, type Raw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { errorOf, METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { member } from "../../rpc/slice.ts";
import type { ClientRequest } from "../surface.ts";
import type { Task } from "./task.ts";
import type { Tasks } from "./tasks.ts";

/** What the eras see of a task, and do with it, once it is one. */
export interface TaskForm {
  /** Whether the client asked for a task; else its server decides. */
  readonly wanted: boolean;
  /** The answer to the call that became one. */
  created(task: Task, meta: Raw | undefined): Raw;
  /** Why this cannot be asked; undefined where it can. */
  cannotAsk(method: string, params: Raw | undefined): string | undefined;
  /** A question as the client gets it. */
  question(task: Task, params: Raw | undefined): Raw | undefined;
  notify(task: Task, method: string, params: Raw | undefined): void;
  /** Something about it is other than before. */
  changed(task: Task): void;
}

export interface TaskCallParts {
  readonly tasks: Tasks;
  readonly clock: Clock;
  readonly form: TaskForm;
  /** `params.task` of 2025-11-25, as written. */
  readonly terms: Raw;
}

/** A client that wants a task has one by then, whatever the server makes of the call. */
const PATIENCE_MS = 5_000;

export class TaskCall {
  readonly #parts: TaskCallParts;
  readonly #request: ClientRequest;
  readonly #signal = new CallSignal();
  /** From the start where the client asked for one; known to it once `#shown`. */
  #task: Task | undefined;
  #shown = false;
  #answer: (answer: Raw) => void = () => {};

  constructor(request: ClientRequest, parts: TaskCallParts) {
    this.#request = request;
    this.#parts = parts;
  }

  /** The answer to the call: its result, or the task it has become. Throws or rejects as the surface does while it is none. */
  run(handle: (request: ClientRequest) => Promise<Raw>, params: Raw): Promise<Raw> {
    const { signal: given, ...request } = this.#request;
    const { clock, form } = this.#parts;
    if (form.wanted) this.#task = this.#begin();
    const stop = (): void => this.#signal.abort(given.reason);
    const early = new Promise<Raw>((resolve) => {
      this.#answer = resolve;
    });
    const inner = { ...request, params, signal: this.#signal, uplink: this.#uplink(), wish: this.#wish() };
    const late = begun(() => handle(inner)).then(
      (result) => this.#succeeded(result),
      (error: unknown) => this.#failed(error),
    );
    given.addEventListener("abort", stop);
    const patience = form.wanted ? clock.after(PATIENCE_MS, () => this.#become()) : undefined;
    return Promise.race([early, late]).finally(() => {
      patience?.cancel();
      given.removeEventListener("abort", stop);
    });
  }

  #wish(): TaskWish {
    const { form, terms } = this.#parts;
    return {
      terms: kept(terms),
      created: (created) => this.#become(created),
      declined: () => {
        if (form.wanted) this.#become();
      },
      changed: (state) => this.#task?.told(state),
    };
  }

  /** From now on the client knows it as a task. */
  #become(created?: CreatedTask): void {
    try {
      this.#task ??= this.#begin();
    } catch {
      // There are too many: it stays what it was, a call that is waited for.
      return;
    }
    if (created) this.#task.backedBy(created);
    if (this.#shown) return;
    this.#shown = true;
    this.#answer(this.#parts.form.created(this.#task, created?.meta));
  }

  #begin(): Task {
    const { tasks, form, terms } = this.#parts;
    const raw = member(terms, "ttl");
    const ttl = raw && fromRaw(raw);
    return tasks.begin(this.#request.origin, {
      signal: this.#signal,
      ttl: typeof ttl === "number" && ttl > 0 ? ttl : undefined,
      onChange: (task) => {
        if (this.#shown) form.changed(task);
      },
    });
  }

  #succeeded(result: Raw): Raw | Promise<never> {
    if (this.#parts.form.wanted) this.#become();
    if (!this.#shown) return result;
    this.#task?.end({ result: kept(result) });
    return never();
  }

  /** What went wrong before it was a task is the answer to the call. */
  #failed(error: unknown): Promise<never> {
    if (!this.#shown) {
      if (this.#task) this.#parts.tasks.drop(this.#task);
      return Promise.reject(error);
    }
    this.#task?.end({ error: error instanceof RpcError ? error : new RpcError(errorOf(error)) });
    return never();
  }

  #uplink(): Uplink {
    const { uplink } = this.#request;
    const { form } = this.#parts;
    const shown = (): Task | undefined => (this.#shown ? this.#task : undefined);
    return {
      notify: (method, params) => {
        const task = shown();
        if (task) form.notify(task, method, params);
        else uplink.notify(method, params);
      },
      request: (method, params, signal, more) => {
        const task = shown();
        if (!task) return uplink.request(method, params, signal, more);
        const refusal = form.cannotAsk(method, params);
        if (!refusal) return task.questions.ask(method, form.question(task, params), signal, more);
        const text = `${method} cannot be put to the client: ${refusal}`;
        return Promise.reject(RpcError.of(METHOD_NOT_FOUND, text));
      },
    };
  }
}

function begun(work: () => Promise<Raw>): Promise<Raw> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error as Error);
  }
}

/** It was answered before. */
function never(): Promise<never> {
  return new Promise(() => {});
}

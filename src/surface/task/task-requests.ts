/** Handles requests about tasks on a surface: calls that may become a task, and later requests for tasks. */
import type { TaskSupport } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { EMPTY_OBJECT, type Raw, scalarOf } from "../../kernel/raw.ts";
import { isOfLaterVersion } from "../../kernel/seal.ts";
import { aborted } from "../../kernel/signal.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { isObject, member, members, mentions, withMember } from "../../rpc/slice.ts";
import type { Cursors } from "../cursor.ts";
import type { ClientRequest } from "../surface.ts";
import { era2026Form, era2026State, knowsTasks, notifyEra2026, requireTasks } from "./era-2026-form.ts";
import { legacyForm, legacyPage, legacyResult, legacyState } from "./legacy-form.ts";
import type { Task } from "./task.ts";
import { TaskCall } from "./task-call.ts";
import type { Tasks } from "./tasks.ts";

export interface TaskRequestsParts {
  readonly tasks: Tasks;
  readonly clock: Clock;
  readonly cursors: Cursors;
  /**
   * Whether a tool can run as a task, by the name that this client sees; undefined while the tool is not
   * known.
   */
  supportOf(name: string, asker: Asker): TaskSupport | undefined;
}

type Handle = (request: ClientRequest) => Promise<Raw>;

const PAGE_SIZE = 100;
/** An internal method that clients cannot call. A subscription uses it for the tasks in its filter. */
export const LISTEN = "tasks/listen";

export class TaskRequests {
  readonly #parts: TaskRequestsParts;

  constructor(parts: TaskRequestsParts) {
    this.#parts = parts;
  }

  /**
   * Returns undefined if the request has nothing to do with tasks. Rejects or throws like `handle`, and for a
   * task of another client.
   */
  answer(request: ClientRequest, handle: Handle): Promise<Raw> | undefined {
    const { method, origin } = request;
    if (method === "tools/call") return this.#call(request, handle);
    if (!method.startsWith("tasks/")) return undefined;
    if (origin.era2026) {
      requireTasks(origin.capabilities);
      return this.#inEra2026(request);
    }
    return this.#legacy(request);
  }

  #call(request: ClientRequest, handle: Handle): Promise<Raw> | undefined {
    const { params, origin } = request;
    const terms = origin.era2026 ? undefined : termsOf(params);
    if (!params || (!terms && !(origin.era2026 && knowsTasks(origin.capabilities)))) return undefined;
    const raw = member(params, "name");
    const name = scalarOf(raw);
    const support = typeof name === "string" ? this.#parts.supportOf(name, origin) : undefined;
    if (support === "forbidden") {
      if (!terms) return undefined;
      throw RpcError.of(
        METHOD_NOT_FOUND,
        `Tool ${String(name)} does not support tasks: call it without task`,
      );
    }
    const { tasks, clock } = this.#parts;
    const form = terms ? legacyForm(request) : era2026Form(request);
    const call = new TaskCall(request, { tasks, clock, form, terms: terms ?? EMPTY_OBJECT });
    return call.run(handle, withMember(params, "task", undefined));
  }

  async #legacy(request: ClientRequest): Promise<Raw> {
    const { method, signal, uplink, origin } = request;
    if (method === "tasks/list") return await this.#list(request);
    if (!["tasks/get", "tasks/result", "tasks/cancel"].includes(method)) throw unknownMethod(method);
    const task = this.#find(request);
    if (method === "tasks/cancel") {
      if (task.outcome) throw RpcError.of(INVALID_PARAMS, "The task has already ended");
      task.cancel("the client cancelled the task");
    } else if (method === "tasks/get") await task.refresh();
    else {
      // Without a session the client cannot be asked, and its questions must wait for a request that can.
      const stopListening = origin.sessionless ? () => {} : task.questions.listen({ uplink, signal });
      await Promise.race([task.ended(), aborted(signal)]).finally(stopListening);
      return legacyResult(task);
    }
    return legacyState(task);
  }

  async #inEra2026(request: ClientRequest): Promise<Raw> {
    const { method, params } = request;
    const task = this.#find(request);
    if (method === "tasks/get") {
      await task.refresh();
      return era2026State(task);
    }
    if (method === "tasks/cancel") task.cancel("the client cancelled the task");
    else if (method === LISTEN) notifyEra2026(task, request);
    else if (method === "tasks/update") {
      const [responses] = params ? members(params, ["inputResponses"]) : [];
      if (!responses || !isObject(responses))
        throw RpcError.of(INVALID_PARAMS, "tasks/update needs an object of inputResponses");
      task.questions.answer(responses);
    } else throw unknownMethod(method);
    return EMPTY_OBJECT;
  }

  /** Throws the same error for an unknown task and for a task of another client. */
  #find({ params, origin }: ClientRequest): Task {
    const [raw] = params ? members(params, ["taskId"]) : [];
    const id = scalarOf(raw);
    const { tasks } = this.#parts;
    const task = typeof id === "string" ? tasks.find(origin, id) : undefined;
    if (task) return task;
    if (typeof id === "string" && isOfLaterVersion(id))
      throw RpcError.of(INVALID_PARAMS, "The task id is of another version of the gateway: ask again");
    const replica = typeof id === "string" ? tasks.replicaOf(origin, id) : undefined;
    throw RpcError.of(
      INVALID_PARAMS,
      replica === undefined
        ? "Task not found or expired"
        : `The task is at replica ${replica} of the gateway, which cannot be reached from here: ask again`,
    );
  }

  async #list({ params, origin }: ClientRequest): Promise<Raw> {
    const [raw] = params ? members(params, ["cursor"]) : [];
    const cursor = scalarOf(raw) as string | undefined;
    if (raw && typeof cursor !== "string")
      throw RpcError.of(INVALID_PARAMS, "The cursor must be the text that the server returned");
    const { tasks, cursors } = this.#parts;
    const here = tasks.of(origin).map((task) => legacyState(task).toString());
    const there = await tasks.elsewhere(origin);
    const own = there.length === 0 ? here : [...here, ...there].toSorted(byAge);
    const binding = `tasks ${own[0] === undefined ? "" : readState(own[0]).taskId}`;
    const from = cursors.read(cursor, binding);
    const next = from + PAGE_SIZE < own.length ? cursors.write(from + PAGE_SIZE, binding) : undefined;
    return legacyPage(own.slice(from, from + PAGE_SIZE), next);
  }
}

function byAge(a: string, b: string): number {
  return Date.parse(readState(a).createdAt) - Date.parse(readState(b).createdAt);
}

function readState(state: string): { readonly taskId: string; readonly createdAt: string } {
  return JSON.parse(state) as { taskId: string; createdAt: string };
}

/** Returns `params.task`; undefined if the client requests no task. */
function termsOf(params: Raw | undefined): Raw | undefined {
  if (!params || !mentions(params, 'task"')) return undefined;
  const terms = member(params, "task");
  return terms && isObject(terms) ? terms : undefined;
}

function unknownMethod(method: string): RpcError {
  return RpcError.of(METHOD_NOT_FOUND, `Method not found: ${method}`);
}

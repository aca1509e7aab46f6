/**
 * Which replica has what a request names: the parked call of a `requestState`, a task, a stored result. Does
 * not know whether that replica lives.
 */
import { ownerOf } from "../kernel/call.ts";
import type { Principal } from "../kernel/principal.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { type IdSource, REQUEST_STATES, ReplicaIds, TASK_IDS } from "../kernel/replica-ids.ts";
import { mayAsk } from "../rpc/era-2026/names.ts";
import type { Message } from "../rpc/message.ts";
import { elements, isArray, isObject, isString, member, mentions } from "../rpc/slice.ts";
import { replicaInText } from "../surface/result/store.ts";
import { bareParams } from "./era-2026/envelope.ts";
import { bindingOf, callerKey } from "./era-2026/state.ts";

export interface Sender {
  readonly principal: Principal;
  readonly era2026: boolean;
  /** The request belongs to a session, which has results of its own. */
  readonly inSession: boolean;
}

const STATE = '"requestState"';
const ABOUT_TASK: ReadonlySet<string> = new Set([
  "tasks/get",
  "tasks/result",
  "tasks/update",
  "tasks/cancel",
]);
/** Requests that may read a stored result, also in code. */
const MAY_READ: ReadonlySet<string> = new Set(["tools/call", "resources/read"]);

export class PlacedRequests {
  readonly #endpoint: string;
  readonly #self: string;
  readonly #states: ReplicaIds;
  readonly #tasks: ReplicaIds;

  constructor(endpoint: string, ids: IdSource) {
    this.#endpoint = endpoint;
    this.#self = ids.replica ?? "";
    this.#states = new ReplicaIds(ids, REQUEST_STATES);
    this.#tasks = new ReplicaIds(ids, TASK_IDS);
  }

  /** Undefined if the request names nothing that one replica has, or what it names is not its sender's. */
  replicaOf({ method, params }: Message & { kind: "request" }, from: Sender): string | undefined {
    if (!params || !isObject(params)) return undefined;
    if (ABOUT_TASK.has(method)) return this.#ofTask(member(params, "taskId"), from);
    if (method === "subscriptions/listen") return this.#ofListener(params, from);
    if (from.inSession) return undefined;
    if (from.era2026 && mayAsk(method) && mentions(params, STATE)) {
      const replica = this.#ofState(method, params, from);
      if (replica !== undefined) return replica;
    }
    return MAY_READ.has(method) ? replicaInText(params) : undefined;
  }

  #ofState(method: string, params: Raw, { principal }: Sender): string | undefined {
    const state = member(params, "requestState");
    if (!state || !isString(state)) return undefined;
    const binding = bindingOf(callerKey(this.#endpoint, principal), method, bareParams(params));
    return this.#replicaIn(this.#states, fromRaw(state) as string, binding);
  }

  #ofTask(id: Raw | undefined, { principal, inSession }: Sender): string | undefined {
    // Tasks of an unknown client belong to its session, and are where that is.
    if (!id || !isString(id) || (inSession && principal.kind === "anonymous")) return undefined;
    const owner = ownerOf({ endpoint: this.#endpoint, principal, session: "", sessionless: true });
    return this.#replicaIn(this.#tasks, fromRaw(id) as string, owner);
  }

  /**
   * One stream cannot come from several replicas: that of another one is preferred, as it cannot be had here.
   */
  #ofListener(params: Raw, from: Sender): string | undefined {
    const wanted = member(params, "notifications");
    const ids = wanted && isObject(wanted) ? member(wanted, "taskIds") : undefined;
    const all = ids && isArray(ids) ? elements(ids).map((id) => this.#ofTask(id, from)) : [];
    return all.find((replica) => replica !== undefined && replica !== this.#self);
  }

  #replicaIn(ids: ReplicaIds, id: string, reader: string): string | undefined {
    const named = ids.open(id, reader);
    return named && (named.elsewhere ?? this.#self);
  }
}

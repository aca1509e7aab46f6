/**
 * Handles requests and notifications that a child sends by itself, and finds the client they are for. If the
 * client cannot be known, no client gets the message: nothing is guessed.
 */

import type { Origin } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { holderKey } from "../kernel/principal.ts";
import { EMPTY_OBJECT, type Raw } from "../kernel/raw.ts";
import { type KnownRoots, rootsOf } from "../kernel/roots.ts";
import { visible } from "../kernel/visible.ts";
import type { Incoming, PeerHandlers, Via } from "../rpc/peer.ts";
import { INTERNAL_ERROR, RpcError } from "../rpc/rpc-error.ts";
import { readTaskState, relatedTask, withoutRelatedTask } from "../rpc/task.ts";
import type { Audience } from "./audience.ts";
import {
  type Attribution,
  attribute,
  attributeToTask,
  type Claim,
  type FormerCaller,
  forwardRequest,
  withTimersPaused,
} from "./claim.ts";
import type { Dialect } from "./dialect.ts";

export interface ChildMessagesParts {
  readonly label: string;
  /** The calls that use the connection at the moment. */
  readonly claims: Iterable<Claim>;
  readonly audience: Audience;
  readonly log: Log;
  readonly clock: Clock;
  /** Sends a notification to the child on the stream of its own message. */
  notify(method: string, params: Raw, via: Via): void;
  /** One of the child's lists changed. */
  onListChanged(method: string): void;
  /** The roots of the connection, if it has some. */
  roots(): KnownRoots | undefined;
  /**
   * The child asks for roots and the connection has none yet. `roots` are those of the client whose call
   * caused it, if known.
   */
  onRootsWanted(roots: KnownRoots | undefined): void;
}

/**
 * The most requests of one child that are served at once. A person or model answers them, so more cannot be
 * useful.
 */
const MAX_SERVING = 64;

/**
 * A child may process a cancellation late or never. For this time after it, a question of the child may still
 * belong to the call.
 */
const CANCELLED_CALL_MS = 10_000;

/**
 * Time for a child to process new roots. A child checks the folders first and does not report when it is
 * done: server-filesystem refuses a call that comes at once.
 */
const ROOTS_SETTLE_MS = 100;

const TASK_STATUS: ReadonlySet<string> = new Set(["notifications/tasks/status", "notifications/tasks"]);
const LIST_CHANGED = /^notifications\/(tools|prompts|resources)\/list_changed$/;

export class ChildMessages implements PeerHandlers {
  /** Set by the handshake. It separates notifications for clients from those of the protocol. */
  dialect: Dialect | undefined;
  readonly #parts: ChildMessagesParts;
  /** Clients that cancelled a call recently, by session, oldest first. */
  readonly #formerCallers = new Map<string, FormerCaller & { readonly at: number }>();
  #rootsSettled: Promise<void> = Promise.resolve();
  /** Requests of the child that are being answered. */
  #serving = 0;

  constructor(parts: ChildMessagesParts) {
    this.#parts = parts;
  }

  /** A call of this client was cancelled before it was answered. */
  callCancelled({ session, principal }: Origin): void {
    const former = { session, principal: holderKey(principal), at: this.#parts.clock.now() };
    // Deleted first, so that the order stays oldest first.
    this.#formerCallers.delete(session);
    this.#formerCallers.set(session, former);
    this.#forget();
  }

  #forget(): void {
    const since = this.#parts.clock.now() - CANCELLED_CALL_MS;
    for (const [session, { at }] of this.#formerCallers) {
      if (at > since) return;
      this.#formerCallers.delete(session);
    }
  }

  #attribute(via: Via, params: Raw | undefined): Attribution {
    const task = relatedTask(params);
    if (task !== undefined) return attributeToTask(this.#parts.claims, task);
    this.#forget();
    return attribute(this.#parts.claims, via, [...this.#formerCallers.values()]);
  }

  async onRequest(request: Incoming): Promise<Raw> {
    const { method } = request;
    if (method === "ping") return EMPTY_OBJECT;
    if (this.#serving >= MAX_SERVING)
      throw RpcError.of(INTERNAL_ERROR, `more than ${MAX_SERVING} requests at once; wait for their answers`);
    this.#serving++;
    try {
      return await this.#serve(request);
    } finally {
      this.#serving--;
    }
  }

  async #serve(request: Incoming): Promise<Raw> {
    const { method, via, params } = request;
    if (method === "roots/list") return await this.#rootsList(request);
    const asked = { ...request, params: params && withoutRelatedTask(params) };
    if (relatedTask(params) !== undefined) await pendingAnswersHandled();
    return await forwardRequest(asked, this.#attribute(via, params), (progress) =>
      this.#parts.notify("notifications/progress", progress, via),
    );
  }

  /**
   * Answers with the roots of the connection, whichever client calls. The child must not see the roots of
   * other clients.
   */
  async #rootsList(request: Incoming): Promise<Raw> {
    const { roots = await this.#askForRoots(request) } = { roots: this.#parts.roots() };
    const { clock } = this.#parts;
    this.#rootsSettled = new Promise((resolve) => void clock.after(ROOTS_SETTLE_MS, resolve));
    if ("result" in roots.answer) return roots.answer.result;
    throw RpcError.of(INTERNAL_ERROR, roots.answer.refusal);
  }

  /** Resolves once the child had time to process the roots it was sent. */
  rootsSettled(): Promise<void> {
    return this.#rootsSettled;
  }

  async #askForRoots(request: Incoming): Promise<KnownRoots> {
    const by = this.#attribute(request.via, request.params);
    const roots = "claims" in by ? by.claims[0]?.origin.roots : undefined;
    if (!roots || !("claims" in by)) {
      this.#parts.onRootsWanted(undefined);
      return rootsOf(await forwardRequest(request, by, () => {}));
    }
    const known = await withTimersPaused(by, () => roots.ask());
    this.#parts.onRootsWanted(known);
    return known;
  }

  onNotification(method: string, received: Raw | undefined, via: Via): void {
    const forClients = this.dialect ? this.dialect.forClients(method, received) : { params: received };
    if (!forClients) return;
    const { label, audience, log } = this.#parts;
    if (TASK_STATUS.has(method)) {
      void pendingAnswersHandled().then(() => this.#taskStatus(forClients.params));
      return;
    }
    const params = forClients.params && withoutRelatedTask(forClients.params);
    if (LIST_CHANGED.test(method)) return this.#parts.onListChanged(method);
    if (method === "notifications/resources/updated") return audience.resourceUpdated(params);
    const by = this.#attribute(via, forClients.params);
    if (method !== "notifications/message") {
      // A notification that names a task is only for the client that runs the task.
      if (relatedTask(forClients.params) === undefined) audience.forward(method, params, by);
      else if ("uplink" in by) by.uplink.notify(method, params);
      return;
    }
    if ("refusal" in by) log.debug(`${label}: ${visible(params?.toString("utf8", 0, 500) ?? "")}`);
    else if (by.claims.some(({ origin }) => audience.wantsLog(origin.session, params)))
      by.uplink.notify(method, params);
  }

  /** Only for the call that runs the task. */
  #taskStatus(state: Raw | undefined): void {
    const id = readTaskState(state)?.taskId;
    if (!state || id === undefined) return;
    for (const { running } of this.#parts.claims) if (running?.id === id) running.update(state);
  }
}

/**
 * A message about a task may arrive together with the answer that creates the task. That answer must be
 * handled first.
 */
function pendingAnswersHandled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** What a child says of its own accord, and whom it is for. Where that cannot be known nobody is asked or told: it does not guess. */

import type { Origin } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { holderKey } from "../kernel/principal.ts";
import { EMPTY_OBJECT, type Raw } from "../kernel/raw.ts";
import { type KnownRoots, rootsOf } from "../kernel/roots.ts";
import type { Incoming, PeerHandlers, Via } from "../rpc/peer.ts";
import { INTERNAL_ERROR, RpcError } from "../rpc/rpc-error.ts";
import { readTaskState, relatedTask, withoutRelatedTask } from "../rpc/task.ts";
import type { Audience } from "./audience.ts";
import {
  type Attribution,
  attribute,
  attributeToTask,
  type Claim,
  type Gone,
  passOn,
  whileAsked,
} from "./claim.ts";
import type { Dialect } from "./dialect.ts";

export interface ChildMessagesParts {
  readonly label: string;
  /** Whoever uses the connection at the moment. */
  readonly claims: ReadonlySet<Claim>;
  readonly audience: Audience;
  readonly log: Log;
  readonly clock: Clock;
  /** Says something to the child on the stream that it spoke on. */
  notify(method: string, params: Raw, via: Via): void;
  /** One of its lists changed. */
  onListChanged(method: string): void;
  /** The roots that belong to the connection. */
  roots(): KnownRoots | undefined;
  /** It asks for roots, and none belong to the connection yet; those of the client whose call led to it, where they are known. */
  onRootsWanted(roots: KnownRoots | undefined): void;
}

/** A child may not hear at once, or ever, that a call was given up: for so long what it asks may still be about it. */
const LEFT_MS = 10_000;

/** A child looks at the folders it is told before they count, and never says when it is done: server-filesystem refuses a call that comes at once. */
const DIGEST_MS = 100;

const TASK_STATUS: ReadonlySet<string> = new Set(["notifications/tasks/status", "notifications/tasks"]);
const LIST_CHANGED = /^notifications\/(tools|prompts|resources)\/list_changed$/;

export class ChildMessages implements PeerHandlers {
  /** Once the child was met: it knows what of a notification is for others. */
  dialect: Dialect | undefined;
  readonly #parts: ChildMessagesParts;
  /** Who gave up a call and when, by session, oldest first. */
  readonly #left = new Map<string, Gone & { readonly at: number }>();
  #rootsDigested: Promise<void> = Promise.resolve();

  constructor(parts: ChildMessagesParts) {
    this.#parts = parts;
  }

  /** A call of this client was given up before it was answered. */
  left({ session, principal }: Origin): void {
    this.#left.delete(session);
    this.#left.set(session, { session, principal: holderKey(principal), at: this.#parts.clock.now() });
    this.#forget();
  }

  #forget(): void {
    const since = this.#parts.clock.now() - LEFT_MS;
    for (const [session, { at }] of this.#left) {
      if (at > since) return;
      this.#left.delete(session);
    }
  }

  #attribute(via: Via, params: Raw | undefined): Attribution {
    const task = relatedTask(params);
    if (task !== undefined) return attributeToTask(this.#parts.claims, task);
    this.#forget();
    return attribute(this.#parts.claims, via, [...this.#left.values()]);
  }

  async onRequest(request: Incoming): Promise<Raw> {
    const { method, via, params } = request;
    if (method === "ping") return EMPTY_OBJECT;
    if (method === "roots/list") return await this.#rootsList(request);
    const asked = { ...request, params: params && withoutRelatedTask(params) };
    if (relatedTask(params) !== undefined) await answersRead();
    return await passOn(asked, this.#attribute(via, params), (progress) =>
      this.#parts.notify("notifications/progress", progress, via),
    );
  }

  /** Answered from what belongs to the connection, whoever calls: another client's roots are none of the child's business. */
  async #rootsList(request: Incoming): Promise<Raw> {
    const { roots = await this.#askForRoots(request) } = { roots: this.#parts.roots() };
    const { clock } = this.#parts;
    this.#rootsDigested = new Promise((resolve) => void clock.after(DIGEST_MS, resolve));
    if ("result" in roots.answer) return roots.answer.result;
    throw RpcError.of(INTERNAL_ERROR, roots.answer.refusal);
  }

  /** Resolves once the child had time for the roots that it was told. */
  rootsDigested(): Promise<void> {
    return this.#rootsDigested;
  }

  async #askForRoots(request: Incoming): Promise<KnownRoots> {
    const by = this.#attribute(request.via, request.params);
    const roots = "claims" in by ? by.claims[0]?.origin.roots : undefined;
    if (!roots || !("claims" in by)) {
      this.#parts.onRootsWanted(undefined);
      return rootsOf(await passOn(request, by, () => {}));
    }
    const known = await whileAsked(by, () => roots.ask());
    this.#parts.onRootsWanted(known);
    return known;
  }

  onNotification(method: string, said: Raw | undefined, via: Via): void {
    const heard = this.dialect ? this.dialect.heard(method, said) : { params: said };
    if (!heard) return;
    const { label, audience, log } = this.#parts;
    if (TASK_STATUS.has(method)) {
      void answersRead().then(() => this.#taskTold(heard.params));
      return;
    }
    const params = heard.params && withoutRelatedTask(heard.params);
    if (LIST_CHANGED.test(method)) return this.#parts.onListChanged(method);
    if (method === "notifications/resources/updated") return audience.updated(params);
    const by = this.#attribute(via, heard.params);
    if (method !== "notifications/message") {
      // What names a task is for the one whose task it is, and nobody else.
      if (relatedTask(heard.params) === undefined) audience.tell(method, params, by);
      else if ("uplink" in by) by.uplink.notify(method, params);
      return;
    }
    if ("refusal" in by) log.debug(`${label}: ${params?.toString().slice(0, 500)}`);
    else if (by.claims.some(({ origin }) => audience.wants(origin.session, params)))
      by.uplink.notify(method, params);
  }

  /** For the one whose task it is, and nobody else. */
  #taskTold(state: Raw | undefined): void {
    const id = readTaskState(state)?.taskId;
    if (!state || id === undefined) return;
    for (const { run } of this.#parts.claims) if (run?.id === id) run.told(state);
  }
}

/** A child may speak of a task in one breath with the answer that creates it: that answer is acted on first. */
function answersRead(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/**
 * The pending requests of one link, and streams that stay open after their answer. Only keeps them; emits no
 * events.
 */

import { PassingMap } from "../../kernel/passing.ts";
import { ownId } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import type { PendingRequest } from "./pending-request.ts";

/** The most streams that stay open after their answer. Some servers never end them. */
const MAX_LINGERING = 8;

export class PendingRequests {
  readonly #waiting = new PassingMap<number, PendingRequest>();
  readonly #lingering = new Set<PendingRequest>();

  add(request: PendingRequest): void {
    this.#waiting.set(request.number, request);
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Whether one of them uses a connected socket at this moment. */
  get isAnyConnected(): boolean {
    return this.#some((request) => request.isConnected);
  }

  /** Whether one of them has no response yet. */
  get isAnyWaiting(): boolean {
    return this.#some((request) => request.phase === "waiting");
  }

  /** Whether one of them may have reached the server. */
  get isAnySent(): boolean {
    return this.#some((request) => request.sent);
  }

  /** The ids of those that certainly did not reach the server. */
  unsent(): number[] {
    return [...this.#waiting.values()].filter((request) => !request.sent).map((request) => request.number);
  }

  /** Removes a request whose answer came, on any stream. */
  settle(message: Message): void {
    if (message.kind !== "result" && message.kind !== "error") return;
    const request = message.id && this.#waiting.get(ownId(message.id));
    if (!request) return;
    this.#waiting.delete(request.number);
    if (!request.settle()) return;
    this.#lingering.add(request);
    if (this.#lingering.size > MAX_LINGERING) this.#endOldest();
  }

  /** The stream of a request has ended. */
  ended(request: PendingRequest): void {
    this.#lingering.delete(request);
  }

  /** The answer is no longer needed, so its stream is not read any more. */
  drop(id: number): void {
    const request = this.#waiting.get(id);
    this.#waiting.delete(id);
    request?.abort();
  }

  abort(): void {
    for (const request of this.#waiting.values()) request.abort();
    for (const request of this.#lingering) request.abort();
    this.#waiting.clear();
    this.#lingering.clear();
  }

  #endOldest(): void {
    const [oldest] = this.#lingering;
    if (!oldest) return;
    this.#lingering.delete(oldest);
    oldest.abort();
  }

  #some(test: (request: PendingRequest) => boolean): boolean {
    for (const request of this.#waiting.values()) if (test(request)) return true;
    return false;
  }
}

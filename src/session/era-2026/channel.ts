/**
 * Requests of the stateless era on a stream that carries many of them, such as stdio. They are matched by id
 * and cancelled by notification.
 */
import { randomBytes } from "node:crypto";
import { PassingMap } from "../../kernel/passing.ts";
import { LOCAL_USER } from "../../kernel/principal.ts";
import { type Raw, scalarOf } from "../../kernel/raw.ts";
import { type IdKey, idKey } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import { INVALID_REQUEST, RpcError } from "../../rpc/rpc-error.ts";
import { members } from "../../rpc/slice.ts";
import { claimsEra2026 } from "./envelope.ts";
import type { ServedRequest, StatelessHost } from "./stateless-host.ts";

export class Channel {
  readonly #era2026: StatelessHost;
  readonly #send: (message: Message, alone: boolean) => void;
  /** Made for the first request: most clients have a session and send none. */
  #session: string | undefined;
  /** Requests in flight. */
  readonly #served = new PassingMap<IdKey, ServedRequest | undefined>();

  constructor(era2026: StatelessHost, send: (message: Message, alone: boolean) => void) {
    this.#era2026 = era2026;
    this.#send = send;
  }

  /** Returns false if the message does not belong to this era. */
  receive(message: Message): boolean {
    if (message.kind === "notification" && message.method === "notifications/cancelled")
      return this.#cancelled(message.params);
    if (!claimsEra2026(message)) return false;
    if (message.kind === "request") this.#serve(message);
    return true;
  }

  /** Cancels all requests, because the stream has ended. */
  end(): void {
    for (const served of this.#served.values()) served?.cancel("the client is gone");
    this.#served.clear();
    if (this.#session !== undefined) this.#era2026.left(this.#session);
  }

  #serve(request: Message & { kind: "request" }): void {
    const key = idKey(request.id);
    if (this.#served.has(key)) {
      const { raw } = RpcError.of(INVALID_REQUEST, "a request with this id is still being served");
      this.#send({ kind: "error", id: request.id, error: raw }, false);
      return;
    }
    this.#session ??= randomBytes(16).toString("hex");
    // Set before `serve`, because `serve` may answer before it returns.
    this.#served.set(key, undefined);
    const served = this.#era2026.serve(request, {
      principal: LOCAL_USER,
      session: this.#session,
      send: (message) => {
        if (message.kind === "result" || message.kind === "error") this.#served.delete(key);
        this.#send(message, this.#served.size === 0);
      },
    });
    if (this.#served.has(key)) this.#served.set(key, served);
  }

  #cancelled(params: Raw | undefined): boolean {
    const [id, reason] = params ? members(params, ["requestId", "reason"]) : [];
    const key = id && idKey(id);
    if (key === undefined || !this.#served.has(key)) return false;
    const text = scalarOf(reason);
    this.#served.get(key)?.cancel(typeof text === "string" ? text : "the caller cancelled the request");
    this.#served.delete(key);
    return true;
  }
}

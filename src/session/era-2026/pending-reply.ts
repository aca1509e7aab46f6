/**
 * One request of the stateless era and its one answer. Also chooses the HTTP status, which other transports
 * ignore.
 */
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { lacking } from "../../rpc/era-2026/capability.ts";
import { MISSING_CAPABILITY } from "../../rpc/era-2026/names.ts";
import type { Message } from "../../rpc/message.ts";
import { METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { joinObject } from "../../rpc/slice.ts";
import type { Envelope } from "./envelope.ts";
import { codeOf, complete, errorFor, OWN_META } from "./stamp.ts";
import { pagesToVisit } from "./url-question.ts";

/** Sends messages to the client. `status` is the HTTP status, if nothing was sent before. */
export type ReplyOutlet = (message: Message, status: number) => void;

export class PendingReply {
  readonly id: Raw;
  readonly method: string;
  readonly #envelope: Envelope;
  readonly #send: ReplyOutlet;

  constructor(request: Message & { kind: "request" }, envelope: Envelope, send: ReplyOutlet) {
    this.id = request.id;
    this.method = request.method;
    this.#envelope = envelope;
    this.#send = send;
  }

  get capabilities(): Raw {
    return this.#envelope.capabilities;
  }

  get progressToken(): Raw | undefined {
    return this.#envelope.progressToken;
  }

  get logLevel(): string | undefined {
    return this.#envelope.logLevel;
  }

  notify(method: string, params: Raw | undefined): void {
    this.#send({ kind: "notification", method, params }, 200);
  }

  complete(result: Raw): void {
    this.#send({ kind: "result", id: this.id, result: complete(result, this.method) }, 200);
  }

  /** Asks the client to retry with answers to these. Without a state, the retry starts a new call. */
  ask(inputRequests: Raw, requestState?: string): void {
    const result = joinObject([
      ["resultType", toRaw("input_required")],
      ["inputRequests", inputRequests],
      ["requestState", requestState === undefined ? undefined : toRaw(requestState)],
      ["_meta", OWN_META],
    ]);
    this.#send({ kind: "result", id: this.id, result }, 200);
  }

  fail(reason: unknown): void {
    const lacks = (required: object): object | undefined => lacking(this.#envelope.capabilities, required);
    const pages = pagesToVisit(reason, this.method, lacks);
    if (pages && !(pages instanceof RpcError)) return this.ask(pages);
    const error = errorFor(pages ?? reason, lacks);
    this.#send({ kind: "error", id: this.id, error }, statusOf(codeOf(error), this.method));
  }
}

/** "Method not found" from a tool call comes from the tool's server, so it is not a 404 of this endpoint. */
function statusOf(code: number, method: string): number {
  if (code === MISSING_CAPABILITY) return 400;
  return code === METHOD_NOT_FOUND && method !== "tools/call" ? 404 : 200;
}

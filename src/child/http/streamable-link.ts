/**
 * A link over streamable HTTP (2025-03-26 to 2025-11-25): one POST per message, no timeouts, no retries.
 *
 * How failures are reported:
 * - `onFailed`: one request failed. Its status is not 2xx, its connection was reset, its answer is invalid,
 *   or it could not connect while other requests of this link are connected.
 * - `onClosed`: no request can succeed on this link any more. The server lost the session, or cannot be
 *   reached and no request is connected. The failure applies to all requests in flight, so `unsent` is true
 *   only if none of them was sent. If some were not sent, those get `onFailed` first, in the same turn of the
 *   event loop.
 * - Failures of notifications, of our answers and of the server's stream are not reported.
 */
import type { IncomingMessage } from "node:http";
import type { Timer } from "../../kernel/clock.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { ownId } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import { Brake } from "../brake.ts";
import { ChildFailure, type HeadersOf, type Link, type LinkEvents } from "../link.ts";
import { readBody } from "./body.ts";
import { badAnswer, withUnsent } from "./failure.ts";
import { HttpChannel, type HttpLinkOptions } from "./http-channel.ts";
import { type HttpClient, isSuccess } from "./http-client.ts";
import { isEventStream } from "./message-stream.ts";
import { PendingRequest, type PendingRequestEvents } from "./pending-request.ts";
import { PendingRequests } from "./pending-requests.ts";
import { MAX_REFUSAL_BYTES, readRefusal } from "./refusal.ts";
import { ServerStream } from "./server-stream.ts";

const INITIALIZED = "notifications/initialized";
const CANCELLED = "notifications/cancelled";
/**
 * The most messages that wait for the session. A server could make us answer without end before it accepts an
 * answer.
 */
const MAX_HELD = 10_000;
const END_SESSION_MS = 1_000;
/** After the session is lost, other requests have this time to get their own response. */
const SESSION_LOSS_MS = 1_000;

export class StreamableLink implements Link {
  readonly peer: string;
  readonly #http: HttpClient;
  readonly #channel: HttpChannel;
  readonly #events: LinkEvents;
  readonly #serverStream: ServerStream;
  readonly #pending = new PendingRequests();
  readonly #requestEvents: PendingRequestEvents;
  /**
   * Messages that wait until `notifications/initialized` was accepted, or for a new link; undefined if none
   * wait.
   */
  #held: Message[] | undefined;
  #agreed = false;
  #initialized = false;
  #lost: ChildFailure | undefined;
  #sessionLossTimer: Timer | undefined;
  #ended = false;
  #ending: Promise<void> | undefined;

  constructor(http: HttpClient, events: LinkEvents, options: HttpLinkOptions) {
    this.peer = http.shown;
    this.#http = http;
    this.#events = events;
    const onStuck = (reason: string): void => this.#fail(new ChildFailure("other", reason));
    this.#channel = new HttpChannel(http, options, new Brake({ clock: options.clock, onStuck }));
    this.#serverStream = new ServerStream(this.#channel, {
      onMessage: (message) => this.#deliver(message, undefined),
      onUnknownSession: () => this.#unknownSession(),
    });
    this.#requestEvents = {
      onMessage: (message, request) => this.#deliver(message, request.number),
      onRefused: (response, body, request) => this.#refused(response, body, request),
      onFailed: (failure, request) => this.#failed(failure, request),
      onEnd: (request) => this.#pending.ended(request),
    };
  }

  send(message: Message): void {
    if (this.#ended) return;
    if (this.#held) {
      if (this.#held.push(message) > MAX_HELD)
        this.#fail(badAnswer(this.peer, "sent too many messages before the session was ready"));
    } else if (message.kind === "request") {
      const request = new PendingRequest(message.id, this.#channel, this.#requestEvents);
      this.#pending.add(request);
      request.post(message);
    } else {
      this.#sendUnanswered(message);
    }
  }

  agreed(protocolVersion: string): void {
    this.#channel.agreed(protocolVersion);
    this.#agreed = true;
    this.#listen();
  }

  stateless(headersOf: HeadersOf | undefined): void {
    this.#channel.setStateless(headersOf);
  }

  lastWords(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  #deliver(message: Message, via: number | undefined): void {
    if (this.#ended) return;
    this.#pending.settle(message);
    this.#events.onMessage(message, via);
  }

  /** A message that gets no answer. */
  #sendUnanswered(message: Message): void {
    const method = message.kind === "notification" ? message.method : undefined;
    if (this.#channel.stateless && message.kind === "notification" && method === CANCELLED)
      return this.#cancelled(message.params);
    // Strict servers refuse a request that arrives before this notification.
    if (method === INITIALIZED) this.#held = [];
    const request = this.#channel.postUnanswered(message, {
      onResponse: (response) => {
        if (this.#ended) return;
        this.#channel.onPostResponse(response);
        if (!isSuccess(response)) this.#notificationRefused(response, method);
        else if (isEventStream(response)) request.abort();
        else response.resume();
        if (method === INITIALIZED) this.#complete();
      },
      onFailure: (failure) => {
        if (this.#ended) return;
        this.#channel.log.debug("a message could not be sent", {
          url: this.peer,
          method,
          reason: failure.message,
        });
        if (cannotConnect(failure) && !this.#pending.isAnyConnected) this.#fail(failure);
        if (method === INITIALIZED) this.#complete();
      },
    });
    if (message.kind === "notification" && method === CANCELLED) this.#cancelled(message.params);
  }

  #notificationRefused(response: IncomingMessage, method: string | undefined): void {
    readBody(response, MAX_REFUSAL_BYTES, (body) => {
      if (this.#ended) return;
      const verdict = this.#verdict(response, Buffer.isBuffer(body) ? body : undefined);
      if (!(verdict instanceof ChildFailure)) return;
      this.#channel.log.debug("a message was refused", { url: this.peer, method, reason: verdict.message });
      if (verdict.unsent) this.#sessionLost(verdict);
    });
  }

  #complete(): void {
    if (this.#ended || this.#lost) return;
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#initialized = true;
    // First the stream, then the requests: what changes after a list was read is announced on the stream.
    this.#listen();
    for (const message of held) this.send(message);
  }

  #listen(): void {
    if (this.#agreed && this.#initialized && !this.#ended) this.#serverStream.open();
  }

  #cancelled(params: Raw | undefined): void {
    const id = params && (fromRaw(params) as { requestId?: unknown } | null)?.requestId;
    if (typeof id === "number") this.#pending.drop(id);
    this.#failIfAllAnswered();
  }

  #refused(response: IncomingMessage, body: Buffer | undefined, request: PendingRequest): void {
    const verdict = this.#verdict(response, body, request.number);
    if (!(verdict instanceof ChildFailure)) {
      this.#deliver(verdict, request.number);
      this.#pending.ended(request);
    } else if (verdict.unsent) {
      request.phase = "refused";
      this.#sessionLost(verdict);
    } else {
      this.#failed(verdict, request);
    }
  }

  #verdict(response: IncomingMessage, body: Buffer | undefined, id?: number): Message | ChildFailure {
    const { session, where } = this.#channel;
    return readRefusal(response, body, { where, id, session, mask: this.#http.mask });
  }

  #failed(failure: ChildFailure, request: PendingRequest): void {
    this.#pending.ended(request);
    if (this.#ended || request.answered) return;
    if (cannotConnect(failure) && !this.#pending.isAnyConnected) {
      this.#fail(failure);
    } else {
      this.#pending.drop(request.number);
      this.#events.onFailed(request.number, failure);
      this.#failIfAllAnswered();
    }
  }

  #unknownSession(): boolean {
    if (this.#ended) return true;
    if (this.#pending.size > 0 || this.#channel.session === "none") return false;
    const more = { sessionLost: true, unsent: true };
    this.#fail(new ChildFailure("other", `${this.peer} no longer knows the session`, more));
    return true;
  }

  /**
   * The server lost the session. Other requests in it will be refused too, and may then be sent on a new
   * link.
   */
  #sessionLost(failure: ChildFailure): void {
    if (!this.#lost) {
      this.#lost = failure;
      this.#held ??= [];
      this.#sessionLossTimer = this.#channel.clock.after(SESSION_LOSS_MS, () => this.#fail(failure));
    }
    this.#failIfAllAnswered();
  }

  #failIfAllAnswered(): void {
    if (this.#lost && !this.#pending.isAnyWaiting) this.#fail(this.#lost);
  }

  #fail(failure: ChildFailure): void {
    if (this.#ended) return;
    const { isAnySent: sent } = this.#pending;
    const unsent = this.#pending.unsent();
    for (const message of this.#held ?? []) if (message.kind === "request") unsent.push(ownId(message.id));
    this.#stop();
    this.#ending = this.#http.close();
    if (sent) for (const id of unsent) this.#events.onFailed(id, withUnsent(failure, true));
    this.#events.onClosed(withUnsent(failure, !sent));
  }

  async #end(): Promise<void> {
    this.#stop();
    await this.#endSession();
    await this.#http.close();
  }

  #stop(): void {
    this.#ended = true;
    this.#channel.brake.release();
    this.#sessionLossTimer?.cancel();
    this.#serverStream.close();
    this.#pending.abort();
  }

  /** Best effort with a short timeout: a server that does not answer must not delay the end. */
  #endSession(): Promise<void> {
    return new Promise((done) => {
      const timer = this.#channel.clock.after(END_SESSION_MS, done);
      const finish = (): void => {
        timer.cancel();
        done();
      };
      if (!this.#channel.endSession({ onResponse: finish, onFailure: finish })) finish();
    });
  }
}

/**
 * Nothing could be sent. Missing credentials, or those of another login, are the failure of one request only.
 */
function cannotConnect(failure: ChildFailure): boolean {
  return failure.unsent && failure.category !== "auth" && !failure.sessionLost;
}

/**
 * The stream for messages that the server sends outside of any request (GET). The link works without it. So a
 * missing, lost or unavailable stream is no failure: it is reopened, and nothing is reported.
 */
import type { IncomingMessage } from "node:http";
import type { Timer } from "../../kernel/clock.ts";
import type { Message } from "../../rpc/message.ts";
import type { HttpChannel } from "./http-channel.ts";
import type { HttpRequest } from "./http-client.ts";
import { isEventStream, readStream } from "./message-stream.ts";
import { resumeDelayMs, streamStart } from "./resume.ts";

/** After a stream that lasted this long the delays start again from the first, even if no message came. */
const STABLE_MS = 10_000;
/** Statuses of a temporary refusal: the server still has the old stream open, is busy or restarts. */
const TEMPORARY = new Set([408, 409, 425, 429]);

export interface ServerStreamEvents {
  onMessage(message: Message): void;
  /**
   * The server had a stream for this session and now does not know the session. Return true to stop
   * reopening.
   */
  onUnknownSession(): boolean;
}

export class ServerStream {
  readonly #channel: HttpChannel;
  readonly #events: ServerStreamEvents;
  readonly #position = streamStart();
  #request: HttpRequest | undefined;
  #timer: Timer | undefined;
  #worked = false;

  constructor(channel: HttpChannel, events: ServerStreamEvents) {
    this.#channel = channel;
    this.#events = events;
  }

  open(): void {
    this.#request = this.#channel.listen(this.#position.lastEventId, {
      onResponse: (response) => this.#onResponse(response),
      onFailure: () => this.#reopenLater(),
    });
  }

  close(): void {
    this.#timer?.cancel();
    this.#request?.abort();
  }

  #onResponse(response: IncomingMessage): void {
    const status = response.statusCode ?? 0;
    if (status === 200 && isEventStream(response)) {
      this.#read(response);
      return;
    }
    response.resume();
    const over = status === 404 && this.#worked && this.#events.onUnknownSession();
    if (over) return;
    if (this.#worked || status >= 500 || TEMPORARY.has(status)) this.#reopenLater();
    else this.#channel.log.debug("the server offers no event stream", { url: this.#channel.where, status });
  }

  #read(response: IncomingMessage): void {
    this.#worked = true;
    const since = this.#channel.clock.now();
    readStream(response, this.#position, this.#channel, {
      onMessage: (message) => {
        if (this.#request?.aborted) return;
        this.#position.attempts = 0;
        this.#events.onMessage(message);
      },
      onBadAnswer: () => {},
      onEnd: () => {
        if (this.#request?.aborted) return;
        if (this.#channel.clock.now() - since >= STABLE_MS) this.#position.attempts = 0;
        this.#reopenLater();
      },
    });
  }

  #reopenLater(): void {
    this.#timer = this.#channel.clock.after(resumeDelayMs(this.#position), () => this.open());
    this.#position.attempts += 1;
  }
}

/**
 * The stream for what the server sends outside of any request. Having none, losing it or never getting it back is no
 * failure: the link works without, so this never gives up on its own account and never complains.
 */
import type { IncomingMessage } from "node:http";
import type { Timer } from "../../kernel/clock.ts";
import type { Message } from "../../rpc/message.ts";
import type { Line } from "./line.ts";
import { isEventStream, readStream } from "./message-stream.ts";
import { beginning, resumeDelayMs } from "./resume.ts";
import type { HttpRequest } from "./wire.ts";

/** A stream that held this long was a good one, even if nothing came. */
const HELD_MS = 10_000;
/** No stream now, perhaps later: the server still holds the old one, is busy, or is being restarted. */
const LATER = new Set([408, 409, 425, 429]);

export interface StandingStreamEvents {
  onMessage(message: Message): void;
  /** The server had a stream for this session and now says that there is no such session. True: stop asking. */
  onUnknownSession(): boolean;
}

export class StandingStream {
  readonly #line: Line;
  readonly #events: StandingStreamEvents;
  readonly #position = beginning();
  #request: HttpRequest | undefined;
  #timer: Timer | undefined;
  #worked = false;

  constructor(line: Line, events: StandingStreamEvents) {
    this.#line = line;
    this.#events = events;
  }

  open(): void {
    this.#request = this.#line.listen(this.#position.lastEventId, {
      onResponse: (response) => this.#onResponse(response),
      onFailure: () => this.#later(),
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
    if (this.#worked || status >= 500 || LATER.has(status)) this.#later();
    else this.#line.log.debug("the server offers no event stream", { url: this.#line.where, status });
  }

  #read(response: IncomingMessage): void {
    this.#worked = true;
    const since = this.#line.clock.now();
    readStream(response, this.#position, this.#line, {
      onMessage: (message) => {
        if (this.#request?.aborted) return;
        this.#position.attempts = 0;
        this.#events.onMessage(message);
      },
      onBadAnswer: () => {},
      onEnd: () => {
        if (this.#request?.aborted) return;
        if (this.#line.clock.now() - since >= HELD_MS) this.#position.attempts = 0;
        this.#later();
      },
    });
  }

  #later(): void {
    this.#timer = this.#line.clock.after(resumeDelayMs(this.#position), () => this.open());
    this.#position.attempts += 1;
  }
}

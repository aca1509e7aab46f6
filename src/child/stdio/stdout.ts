/**
 * Reads messages from stdout of a child. Other lines are logged and skipped. It answers only requests that
 * cannot be read.
 */
import type { Readable } from "node:stream";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import type { Mask } from "../../kernel/secret.ts";
import { LineReader, type TooLong } from "../../rpc/lines.ts";
import type { Message } from "../../rpc/message.ts";
import { INTERNAL_ERROR, INVALID_REQUEST } from "../../rpc/rpc-error.ts";
import { readMessage } from "../../rpc/scan.ts";
import { LineLimiter } from "./line-limiter.ts";
import { readable } from "./stderr.ts";
import { Throttle } from "./throttle.ts";

interface StdoutOptions {
  readonly server: string;
  readonly mask: Mask;
  readonly log: Log;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  readonly onMessage: (message: Message) => void;
  /** Sends a message to the child. */
  readonly answer: (message: Message) => void;
}

const GARBAGE_LINES_PER_SECOND = 5;
const SHOWN_BYTES = 200;
/** A line that is meant as a message contains this. */
const SIGN = '"jsonrpc"';
/** The cost of a line that is no message, expressed in bytes for the throttle. */
const COST_OF_A_LINE = 256;

export class Stdout {
  readonly #options: StdoutOptions;
  readonly #limiter: LineLimiter;
  readonly #throttle: Throttle;
  #lastGarbage: string | undefined;
  #heard = false;

  constructor(stream: Readable, options: StdoutOptions) {
    this.#options = options;
    const { server, log, clock, maxMessageBytes } = options;
    this.#throttle = new Throttle(stream, clock);
    this.#limiter = new LineLimiter({
      clock,
      perSecond: GARBAGE_LINES_PER_SECOND,
      onSkipped: (lines) => log.warn(`${lines} more lines on stdout that are not messages`, { server }),
    });
    const reader = new LineReader(
      { onLine: (line) => this.#line(line), onTooLong: (message) => this.#tooLong(message) },
      maxMessageBytes,
    );
    stream.once("data", () => {
      this.#heard = true;
    });
    stream.on("data", (chunk: Buffer) => reader.push(chunk));
    stream.on("error", () => {});
    stream.on("end", () => reader.end());
    stream.on("close", () => this.#limiter.flush());
  }

  /** Something came on stdout, so the server itself runs. */
  get heard(): boolean {
    return this.#heard;
  }

  /** The last logged line that is no message. It is often the reason why a server never answers. */
  get lastGarbage(): string | undefined {
    return this.#lastGarbage;
  }

  /** The child has ended: read the rest without throttling. */
  release(): void {
    this.#throttle.release();
  }

  #line(line: Buffer): void {
    const message = readMessage(line);
    if (message.kind !== "malformed") {
      this.#options.onMessage(message);
      return;
    }
    const { id, reason, meant } = message;
    this.#garbage(line, reason);
    // Log lines may contain ids too, and some contain a copy of an answer that comes next.
    if (id && line[0] === 0x7b && line.includes(SIGN))
      this.#refuse(id, meant === "request", { message: `the message could not be read: ${reason}` });
  }

  #garbage(line: Buffer, reason: string): void {
    this.#throttle.count(line.length + COST_OF_A_LINE);
    if (!this.#limiter.take()) return;
    const { log, server, mask } = this.#options;
    const shown = mask(readable(line.toString("utf8", 0, SHOWN_BYTES)));
    this.#lastGarbage = shown || this.#lastGarbage;
    log.warn(`a line on stdout is not a message: ${shown}`, { server, reason, bytes: line.length });
  }

  /** If an answer is over the limit, only its request fails. The link stays open. */
  #tooLong({ id, method, bytes }: TooLong): void {
    const { log, server, maxMessageBytes } = this.#options;
    const text = `a message of ${bytes} bytes is over the limit of ${maxMessageBytes} (--max-message)`;
    log.warn(text, { server });
    if (id === undefined) return;
    this.#refuse(id, method, { message: text, ...(!method && { data: { metamcp: "result_too_large" } }) });
  }

  /**
   * An unusable answer fails its request, and an unusable request gets an error, so that neither side waits
   * for ever.
   */
  #refuse(id: Raw, method: boolean, error: object): void {
    const { onMessage, answer } = this.#options;
    if (method) answer({ kind: "error", id, error: toRaw({ code: INVALID_REQUEST, ...error }) });
    else onMessage({ kind: "error", id, error: toRaw({ code: INTERNAL_ERROR, ...error }) });
  }
}

/** Reads the messages of one event stream. Its owner decides what the end of the stream means. */
import type { IncomingMessage } from "node:http";
import type { Log } from "../../kernel/log.ts";
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { EventReader } from "../../rpc/event-stream.ts";
import type { TooLong } from "../../rpc/lines.ts";
import type { Malformed, Message } from "../../rpc/message.ts";
import { INTERNAL_ERROR, INVALID_REQUEST } from "../../rpc/rpc-error.ts";
import { readMessage } from "../../rpc/scan.ts";
import { elements } from "../../rpc/slice.ts";
import type { Brake } from "../brake.ts";
import { eventRead, type StreamPosition } from "./resume.ts";

export interface StreamOptions {
  readonly where: string;
  readonly log: Log;
  readonly maxMessageBytes: number;
  /** Pauses the stream while the server does not take what it asked for. */
  readonly brake: Brake;
  /** Sends the child an error for a request that cannot be read. */
  refuse(message: Message): void;
}

export interface StreamHandlers {
  onMessage(message: Message): void;
  /** A message that cannot be read and may be an answer. */
  onBadAnswer(malformed: Malformed): void;
  /** An event whose type is not "message". */
  onOther?(type: string, data: Buffer): void;
  /** Without an error the server ended the stream properly. */
  onEnd(error: Error | undefined): void;
}

export function isEventStream(response: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(response.headers["content-type"] ?? "");
}

/** Reads one body or event: a message or, in 2025-03-26, an array of messages. */
export function readMessages(bytes: Buffer): (Message | Malformed)[] {
  const message = readMessage(bytes);
  if (message.kind !== "malformed" || message.code !== INVALID_REQUEST) return [message];
  const batch = elements(asRaw(bytes));
  return batch.length === 0 ? [message] : batch.map(readMessage);
}

/** The error that replaces an answer over the size limit. */
export function tooLargeError(id: Raw, maxBytes: number): Message {
  const message = `the answer is over the limit of ${maxBytes} bytes (--max-message)`;
  const error = toRaw({ code: INTERNAL_ERROR, message, data: { metamcp: "result_too_large" } });
  return { kind: "error", id, error };
}

/** Updates `position` with every complete event. */
export function readStream(
  response: IncomingMessage,
  position: StreamPosition,
  options: StreamOptions,
  handlers: StreamHandlers,
): void {
  const { where, log, maxMessageBytes } = options;

  const refuse = (id: Raw, code: number, message: string): void =>
    options.refuse({ kind: "error", id, error: toRaw({ code, message }) });
  const take = (message: Message | Malformed): void => {
    if (message.kind !== "malformed") {
      handlers.onMessage(message);
      return;
    }
    log.debug("an event is not a message", { url: where, reason: message.reason });
    if (message.id && message.meant === "request") refuse(message.id, message.code, message.reason);
    else handlers.onBadAnswer(message);
  };
  const takeTooLong = ({ id, method, bytes }: TooLong): void => {
    eventRead(position, reader.lastId);
    log.warn("a message is over the limit", { url: where, bytes, maxMessageBytes });
    if (id && method)
      refuse(id, INVALID_REQUEST, `the request is over the limit of ${maxMessageBytes} bytes`);
    else if (id) handlers.onMessage(tooLargeError(id, maxMessageBytes));
  };

  const reader = new EventReader(
    {
      onEvent: ({ event, data, id }) => {
        eventRead(position, id);
        if (event !== "message") handlers.onOther?.(event, data);
        else if (data.length > 0) for (const message of readMessages(data)) take(message);
      },
      onTooLong: takeTooLong,
    },
    maxMessageBytes,
  );
  let over = false;
  const end = (error?: Error): void => {
    if (over) return;
    over = true;
    // The last event may have had only an id.
    eventRead(position, reader.lastId);
    position.retryMs = reader.retry ?? position.retryMs;
    handlers.onEnd(error);
  };
  options.brake.add(response);
  response.on("data", (chunk: Buffer) => reader.push(chunk));
  response.on("error", end);
  response.on("end", () => end());
}

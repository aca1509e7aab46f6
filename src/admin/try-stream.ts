/**
 * Streams the events of a running call to a browser. A slow reader loses progress and log events, but never
 * the result.
 */
import type { ServerResponse } from "node:http";
import type { RunningTry, TryEvent } from "../gateway/try-control.ts";
import { eventText } from "../observe/live/event-feed.ts";
import type { StreamReader } from "./route.ts";

export interface TryStreamParts {
  readonly response: Pick<ServerResponse, "write" | "end" | "writableLength">;
  /** The person who started the call. Undefined when they may no longer see it. */
  readonly reader: StreamReader;
  /** Converts an event to the JSON that is sent. */
  readonly shown: (event: TryEvent) => object;
}

const MAX_UNREAD = 262_144;
const CHECK_MS = 1_000;
/** In checks. A heartbeat keeps proxies from closing the stream and detects dead connections. */
const HEARTBEAT_EVERY = 15;

export class TryStream {
  readonly #running: RunningTry;
  readonly #parts: TryStreamParts;
  readonly #began = performance.now();
  readonly #checking: NodeJS.Timeout;
  #missed = 0;
  #checks = 0;

  constructor(running: RunningTry, parts: TryStreamParts) {
    this.#running = running;
    this.#parts = parts;
    this.#checking = setInterval(() => this.#check(), CHECK_MS);
    this.#checking.unref();
    running.run((event) => this.#send(event));
  }

  /** Cancels the call. */
  readonly end = (): void => {
    clearInterval(this.#checking);
    this.#running.end();
  };

  #send(event: TryEvent): void {
    const { response, shown } = this.#parts;
    const sent = shown(event);
    if (event.type === "progress" || event.type === "log") {
      if (response.writableLength > MAX_UNREAD) this.#missed += 1;
      else response.write(eventText(event.type, sent));
      return;
    }
    if (this.#missed > 0) response.write(eventText("missed", { type: "missed", count: this.#missed }));
    this.#missed = 0;
    const over = event.type === "result" || event.type === "error";
    const ms = over ? { ms: Math.round(performance.now() - this.#began) } : {};
    response.write(eventText(event.type, { ...sent, ...ms }));
    if (!over) return;
    clearInterval(this.#checking);
    response.end();
  }

  #check(): void {
    const { response, reader } = this.#parts;
    if (!reader()) {
      this.end();
      response.end();
    } else if (++this.#checks % HEARTBEAT_EVERY === 0 && response.writableLength === 0)
      response.write(": \n\n");
  }
}

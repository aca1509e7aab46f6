/** The events of a tried call on their way to a browser. Whoever reads slowly misses progress, never the result. */
import type { ServerResponse } from "node:http";
import type { Tried, TryEvent } from "../gateway/try-control.ts";
import { eventText } from "../observe/live/event-feed.ts";
import type { StreamReader } from "./route.ts";

export interface TryStreamParts {
  readonly outlet: Pick<ServerResponse, "write" | "end" | "writableLength">;
  /** Who began it, for as long as they may see it. */
  readonly who: StreamReader;
  /** As it is told. */
  readonly shown: (event: TryEvent) => object;
}

const MOST_UNREAD = 262_144;
const LOOK_MS = 1_000;
/** In looks: proxies and dead peers are found out by writing. */
const BEAT_EVERY = 15;

export class TryStream {
  readonly #tried: Tried;
  readonly #parts: TryStreamParts;
  readonly #began = performance.now();
  readonly #looking: NodeJS.Timeout;
  #missed = 0;
  #looks = 0;

  constructor(tried: Tried, parts: TryStreamParts) {
    this.#tried = tried;
    this.#parts = parts;
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
    this.#looking.unref();
    tried.run((event) => this.#tell(event));
  }

  /** Cancels what is under way. */
  readonly end = (): void => {
    clearInterval(this.#looking);
    this.#tried.end();
  };

  #tell(event: TryEvent): void {
    const { outlet, shown } = this.#parts;
    const told = flat(shown(event));
    if (event.type === "progress" || event.type === "log") {
      if (outlet.writableLength > MOST_UNREAD) this.#missed += 1;
      else outlet.write(eventText(event.type, told));
      return;
    }
    if (this.#missed > 0) outlet.write(eventText("missed", { type: "missed", count: this.#missed }));
    this.#missed = 0;
    const over = event.type === "result" || event.type === "error";
    const ms = over ? { ms: Math.round(performance.now() - this.#began) } : {};
    outlet.write(eventText(event.type, { ...told, ...ms }));
    if (!over) return;
    clearInterval(this.#looking);
    outlet.end();
  }

  #look(): void {
    const { outlet, who } = this.#parts;
    if (!who()) {
      this.end();
      outlet.end();
    } else if (++this.#looks % BEAT_EVERY === 0 && outlet.writableLength === 0) outlet.write(": \n\n");
  }
}

/** What a server said in its notification stands beside the type. */
function flat(event: object): object {
  if (!("params" in event)) return event;
  const { params, ...rest } = event;
  return { ...(params as object), ...rest };
}

/**
 * Who watches live. Each gets what happens as server-sent events, as far as they may see it. Calls are told in batches: they
 * may come by the thousand. One that reads too slowly misses some and is told how many; one that does not read at all is let go.
 */
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Principal } from "../../kernel/principal.ts";
import { GatheredText } from "../gathered-text.ts";
import type { ToldEvent } from "./told-event.ts";

/** Where events are written to: an HTTP response. */
export interface Outlet {
  write(text: string | Buffer): unknown;
  end(): unknown;
  destroy(): unknown;
  readonly writableLength: number;
}

export interface Watching {
  /** Who watches, as they are at the moment; undefined once they may not. */
  readonly who: () => Principal | undefined;
  readonly sees: (type: ToldEvent["type"], who: Principal) => boolean;
}

interface Watcher extends Watching {
  readonly outlet: Outlet;
  missed: number;
  /** Looks in a row at which nothing had been read. */
  stuck: number;
}

const MOST_UNREAD = 262_144;
/** In bytes, and in milliseconds: what calls wait for at most. */
const BATCH = 65_536;
const BATCH_MS = 50;
/** For what the last call of a batch takes beyond it. */
const LAST_BYTES = 16_384;
const MOST_WATCHERS = 100;
/** A right that ended is noticed by then at the latest. */
const LOOK_MS = 1_000;
/** In looks: proxies and dead peers are found out by writing. */
const BEAT_EVERY = 15;
/** In looks: whoever reads nothing for so long is not there. */
const MOST_STUCK = 60;

export function eventText(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

export class EventFeed {
  readonly #clock: Clock;
  readonly #onLook: () => void;
  readonly #watchers = new Set<Watcher>();
  readonly #calls = new GatheredText(BATCH + LAST_BYTES);
  #callCount = 0;
  #gathering: Timer | undefined;
  #looking: Timer | undefined;
  #looks = 0;

  /** `onLook`: runs every second while somebody watches. */
  constructor(clock: Clock, onLook: () => void = () => {}) {
    this.#clock = clock;
    this.#onLook = onLook;
  }

  get watched(): boolean {
    return this.#watchers.size > 0;
  }

  get full(): boolean {
    return this.#watchers.size >= MOST_WATCHERS;
  }

  /** `hello`: told first. Returns what ends it. */
  add(outlet: Outlet, watching: Watching, hello: object): () => void {
    this.#tellCalls();
    const watcher: Watcher = { ...watching, outlet, missed: 0, stuck: 0 };
    this.#watchers.add(watcher);
    outlet.write(eventText("hello", { type: "hello", ...hello }));
    this.#looking ??= this.#clock.after(LOOK_MS, () => this.#look());
    return () => this.#watchers.delete(watcher);
  }

  tell(event: ToldEvent): void {
    this.#tellCalls();
    this.#write(event.type, Buffer.from(eventText(event.type, event)), 1);
  }

  /** `event`: as JSON. */
  tellCall(event: string): void {
    this.#calls.add(`event: call\ndata: ${event}\n\n`);
    this.#callCount += 1;
    if (this.#calls.length >= BATCH) this.#tellCalls();
    else this.#gathering ??= this.#clock.after(BATCH_MS, () => this.#tellCalls());
  }

  close(): void {
    this.#tellCalls();
    this.#looking?.cancel();
    for (const { outlet } of this.#watchers) outlet.end();
    this.#watchers.clear();
  }

  #tellCalls(): void {
    this.#gathering?.cancel();
    this.#gathering = undefined;
    if (this.#callCount === 0) return;
    const count = this.#callCount;
    this.#callCount = 0;
    this.#write("call", this.#calls.take(), count);
  }

  /** To all who may see it now. */
  #write(type: ToldEvent["type"], text: Buffer, count: number): void {
    for (const watcher of this.#watchers) {
      const who = watcher.who();
      if (!who) this.#end(watcher);
      else if (watcher.sees(type, who)) write(watcher, text, count);
    }
  }

  #end(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    watcher.outlet.end();
  }

  #look(): void {
    const beat = ++this.#looks % BEAT_EVERY === 0;
    this.#onLook();
    for (const watcher of this.#watchers) {
      const { outlet } = watcher;
      watcher.stuck = outlet.writableLength === 0 ? 0 : watcher.stuck + 1;
      if (!watcher.who()) this.#end(watcher);
      else if (watcher.stuck > MOST_STUCK) {
        this.#watchers.delete(watcher);
        outlet.destroy();
      } else if (beat && watcher.stuck === 0) outlet.write(": \n\n");
    }
    this.#looking = this.watched ? this.#clock.after(LOOK_MS, () => this.#look()) : undefined;
  }
}

function write(watcher: Watcher, text: Buffer, count: number): void {
  const { outlet } = watcher;
  if (outlet.writableLength > MOST_UNREAD) {
    watcher.missed += count;
    return;
  }
  if (watcher.missed > 0) outlet.write(eventText("missed", { type: "missed", count: watcher.missed }));
  watcher.missed = 0;
  outlet.write(text);
}

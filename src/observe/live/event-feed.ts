/**
 * Sends live events to watchers as server-sent events, as far as each may see them. Calls are sent in
 * batches, because there may be thousands. A slow watcher loses events and gets their number; one that does
 * not read at all is disconnected.
 */
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Principal } from "../../kernel/principal.ts";
import { TextBuffer } from "../text-buffer.ts";
import type { LiveEvent } from "./live-event.ts";

/** The used part of an HTTP response. */
export interface StreamResponse {
  write(text: string | Buffer): unknown;
  end(): unknown;
  destroy(): unknown;
  readonly writableLength: number;
}

export interface WatcherRights {
  /** The current principal of the watcher. Undefined when it may no longer watch. */
  readonly reader: () => Principal | undefined;
  readonly maySee: (type: LiveEvent["type"], principal: Principal) => boolean;
}

/** What watchers want to see: nothing, all but calls, or all. */
export type Wanted = "none" | "states" | "all";

interface Watcher extends WatcherRights {
  readonly response: StreamResponse;
  /** Another replica, which passes events of this one on to its watchers. */
  readonly isReplica: boolean;
  missed: number;
  /** Number of checks in a row without anything read. */
  stuck: number;
}

/** Stands for another replica, which judges the rights of its own watchers. */
const REPLICA: Principal = { kind: "local", id: "replica", roles: [], groups: [] };

const MAX_UNREAD = 262_144;
/** A batch of calls is sent at this size in bytes, or after this time. */
const BATCH = 65_536;
const BATCH_MS = 50;
/** Additional room for the last call of a batch. */
const LAST_BYTES = 16_384;
const MAX_WATCHERS = 100;
/** Places that only administrators may take. */
const FOR_ADMINS = 20;
const MAX_OWN = 20;
/** The loss of a right is noticed within this time. */
const CHECK_MS = 1_000;
/** In checks. A heartbeat keeps proxies from closing the stream and detects dead connections. */
const HEARTBEAT_EVERY = 15;
/** In checks. A watcher that reads nothing for this time is disconnected. */
const MAX_STUCK = 60;

export function eventText(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

export class EventFeed {
  readonly #clock: Clock;
  readonly #onCheck: () => void;
  readonly #watchers = new Set<Watcher>();
  readonly #calls = new TextBuffer(BATCH + LAST_BYTES);
  #callCount = 0;
  #flushing: Timer | undefined;
  #checking: Timer | undefined;
  #checks = 0;
  #wanted: Wanted = "none";
  /** Called when the people who watch want to see more or less. */
  onWanted: ((wanted: Wanted) => void) | undefined;

  /** `onCheck` runs every second while somebody watches. */
  constructor(clock: Clock, onCheck: () => void = () => {}) {
    this.#clock = clock;
    this.#onCheck = onCheck;
  }

  get watched(): boolean {
    return this.#watchers.size > 0;
  }

  /** Whether there is no place for one more watcher of this principal. */
  fullFor({ id, roles }: Principal): boolean {
    const kept = roles.includes("admin") ? 0 : FOR_ADMINS;
    const people = [...this.#watchers].filter(({ isReplica }) => !isReplica);
    if (people.length >= MAX_WATCHERS - kept) return true;
    const own = people.filter(({ reader }) => reader()?.id === id);
    return own.length >= MAX_OWN;
  }

  /** Sends `hello` first. Returns a function that removes the watcher. */
  add(response: StreamResponse, rights: WatcherRights, hello: object): () => void {
    return this.#add({ ...rights, response, isReplica: false, missed: 0, stuck: 0 }, hello);
  }

  /** Adds another replica, which gets the events of this one alone. Returns a function that removes it. */
  addReplica(response: StreamResponse, types: ReadonlySet<LiveEvent["type"]>): () => void {
    const rights = { reader: () => REPLICA, maySee: (type: LiveEvent["type"]) => types.has(type) };
    return this.#add({ ...rights, response, isReplica: true, missed: 0, stuck: 0 }, {});
  }

  #add(watcher: Watcher, hello: object): () => void {
    this.#flushCalls();
    this.#watchers.add(watcher);
    watcher.response.write(eventText("hello", { type: "hello", ...hello }));
    this.#checking ??= this.#clock.after(CHECK_MS, () => this.#check());
    this.#tellWanted();
    return () => {
      this.#watchers.delete(watcher);
      this.#tellWanted();
    };
  }

  /** Passes events of another replica on to the people who watch here. */
  relay(type: LiveEvent["type"] | "missed", text: string, count: number): void {
    this.#flushCalls();
    this.#write(type, Buffer.from(text), count, ({ isReplica }) => !isReplica);
  }

  send(event: LiveEvent): void {
    this.#flushCalls();
    this.#write(event.type, Buffer.from(eventText(event.type, event)), 1);
  }

  /** `event` is JSON. */
  sendCall(event: string): void {
    this.#calls.add(`event: call\ndata: ${event}\n\n`);
    this.#callCount += 1;
    if (this.#calls.length >= BATCH) this.#flushCalls();
    else this.#flushing ??= this.#clock.after(BATCH_MS, () => this.#flushCalls());
  }

  close(): void {
    this.#flushCalls();
    this.#checking?.cancel();
    for (const { response } of this.#watchers) response.end();
    this.#watchers.clear();
    this.#tellWanted();
  }

  #flushCalls(): void {
    this.#flushing?.cancel();
    this.#flushing = undefined;
    if (this.#callCount === 0) return;
    const count = this.#callCount;
    this.#callCount = 0;
    this.#write("call", this.#calls.take(), count);
  }

  /** Writes to all watchers who may see the event now. */
  #write(
    type: LiveEvent["type"] | "missed",
    text: Buffer,
    count: number,
    who: (watcher: Watcher) => boolean = () => true,
  ): void {
    for (const watcher of this.#watchers) {
      const principal = watcher.reader();
      if (!principal) this.#end(watcher);
      else if (who(watcher) && (type === "missed" || watcher.maySee(type, principal)))
        write(watcher, text, count);
    }
  }

  #tellWanted(): void {
    if (!this.onWanted) return;
    const people = [...this.#watchers].filter(({ isReplica }) => !isReplica);
    const seesCalls = ({ reader, maySee }: Watcher): boolean => {
      const principal = reader();
      return principal !== undefined && maySee("call", principal);
    };
    const wanted = people.length === 0 ? "none" : people.some(seesCalls) ? "all" : "states";
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    this.onWanted(wanted);
  }

  #end(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    watcher.response.end();
    this.#tellWanted();
  }

  #check(): void {
    const heartbeat = ++this.#checks % HEARTBEAT_EVERY === 0;
    this.#onCheck();
    for (const watcher of this.#watchers) {
      const { response } = watcher;
      watcher.stuck = response.writableLength === 0 ? 0 : watcher.stuck + 1;
      if (!watcher.reader()) this.#end(watcher);
      else if (watcher.stuck > MAX_STUCK) {
        this.#watchers.delete(watcher);
        response.destroy();
      } else if (heartbeat && watcher.stuck === 0) response.write(": \n\n");
    }
    // The rights of a watcher may have changed.
    this.#tellWanted();
    this.#checking = this.watched ? this.#clock.after(CHECK_MS, () => this.#check()) : undefined;
  }
}

function write(watcher: Watcher, text: Buffer, count: number): void {
  const { response } = watcher;
  if (response.writableLength > MAX_UNREAD) {
    watcher.missed += count;
    return;
  }
  if (watcher.missed > 0) response.write(eventText("missed", { type: "missed", count: watcher.missed }));
  watcher.missed = 0;
  response.write(text);
}

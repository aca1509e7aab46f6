/**
 * Reads the live events of the other replicas while somebody here wants them: one stream from each, opened
 * again after a loss. Passes events on as they came, in whole blocks.
 */
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Asks } from "./ask.ts";
import type { Members } from "./members.ts";

/** The path of the stream at the internal listener; the query says whether calls are wanted. */
export const EVENTS = "/events";
const AGAIN_MS = 1_000;
/** No event is longer. A stream without an end of one is not ours. */
const MAX_REST = 1024 * 1024;

export type Wanted = "none" | "states" | "all";

export interface RelayParts {
  readonly asks: Pick<Asks, "request">;
  readonly members: Pick<Members, "self" | "all">;
  readonly clock: Clock;
  /** Gets consecutive events of one type as text of server-sent events. */
  readonly onEvents: (type: string, text: string, count: number) => void;
}

interface Stream {
  readonly request: ClientRequest | undefined;
  readonly timer: Timer | undefined;
}

export class EventRelay {
  readonly #parts: RelayParts;
  readonly #streams = new Map<string, Stream>();
  #wanted: Wanted = "none";

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** What somebody here wants to see. */
  want(wanted: Wanted): void {
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    for (const replica of this.#streams.keys()) this.#close(replica);
    this.follow();
  }

  /** Opens streams from replicas that came, and forgets those that are gone. */
  follow(): void {
    const { members } = this.#parts;
    const reachable = members.all.filter(({ id, address }) => id !== members.self && address !== undefined);
    const ids = new Set(this.#wanted === "none" ? [] : reachable.map(({ id }) => id));
    for (const replica of this.#streams.keys()) if (!ids.has(replica)) this.#close(replica);
    for (const replica of ids) if (!this.#streams.has(replica)) this.#open(replica);
  }

  #open(replica: string): void {
    const request = this.#parts.asks.request(replica, `${EVENTS}?${this.#wanted}`);
    this.#streams.set(replica, { request, timer: undefined });
    request.once("response", (answer) => this.#read(answer));
    request.once("error", () => {});
    request.once("close", () => this.#lost(replica, request));
    request.end();
  }

  #lost(replica: string, request: ClientRequest): void {
    if (this.#streams.get(replica)?.request !== request) return;
    const timer = this.#parts.clock.after(AGAIN_MS, () => {
      this.#streams.delete(replica);
      this.follow();
    });
    this.#streams.set(replica, { request: undefined, timer });
  }

  #close(replica: string): void {
    const { request, timer } = this.#streams.get(replica) ?? {};
    this.#streams.delete(replica);
    timer?.cancel();
    request?.destroy();
  }

  #read(answer: IncomingMessage): void {
    // An older replica does not know the path. Its stream is tried again, because it may be replaced.
    if (answer.statusCode !== 200) {
      answer.resume();
      return;
    }
    let rest = "";
    answer.setEncoding("utf8").on("data", (chunk: string) => {
      const blocks = (rest + chunk).split("\n\n");
      rest = blocks.pop() ?? "";
      if (rest.length > MAX_REST) answer.destroy();
      for (const { type, texts } of runsOf(blocks))
        this.#parts.onEvents(type, `${texts.join("\n\n")}\n\n`, texts.length);
    });
    answer.on("error", () => {});
  }
}

/** Consecutive events of one type. Comments and greetings are left out. */
export function runsOf(
  blocks: readonly string[],
): readonly { readonly type: string; readonly texts: readonly string[] }[] {
  const runs: { type: string; texts: string[] }[] = [];
  for (const block of blocks) {
    const [, type] = /^event: (\w+)\n/.exec(block) ?? [];
    if (type === undefined || type === "hello") continue;
    const last = runs.at(-1);
    if (last?.type === type) last.texts.push(block);
    else runs.push({ type, texts: [block] });
  }
  return runs;
}

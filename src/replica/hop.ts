/**
 * Passes a request on to another replica as it came, and its answer back to the client. One hop: the other
 * one never passes it on.
 */
import type { IncomingMessage } from "node:http";
import type { StrayRequest } from "../transport/http/owners.ts";
import type { ChannelAgent } from "./channel.ts";
import { type ChannelTarget, HopChannel } from "./hop-channel.ts";
import { type Passed, RelayedAnswer } from "./relayed-answer.ts";
import { encodeRequest } from "./request-head.ts";

/** A replica that stopped answers what it has got within this time. */
const STOPPED_MS = 10_000;

export interface HopParts {
  readonly agent: ChannelAgent;
  readonly self: string;
  readonly addressOf: (request: IncomingMessage) => string;
}

export class Hop {
  readonly #parts: HopParts;
  /** By replica and address. */
  readonly #channels = new Map<string, HopChannel>();
  readonly #relayed = new Set<StrayRequest["received"]>();
  /** How many requests other replicas have answered. */
  passed = 0;

  constructor(parts: HopParts) {
    this.#parts = parts;
  }

  /**
   * Number of requests that get their answers through this replica. Streams that answer none do not count.
   */
  get relaying(): number {
    return [...this.#relayed].filter(({ request }) => request.method !== "GET").length;
  }

  /** Ends the streams that answer no request. Their clients open them again at another replica. */
  endStreams(): void {
    for (const { request, response } of this.#relayed) if (request.method === "GET") response.end();
  }

  /** Never rejects. */
  pass(stray: StrayRequest, target: ChannelTarget, { released = false } = {}): Promise<Passed> {
    const { request, response } = stray.received;
    if (response.destroyed) return Promise.resolve({ as: "answered" });
    const address = this.#parts.addressOf(request);
    const channel = this.#channelTo(target);
    return new Promise((resolve) => {
      const left = (): void => {
        this.#relayed.delete(stray.received);
        channel.cancel(answer);
        // Nobody waits for an answer any more.
        resolve({ as: "answered" });
      };
      const answer = new RelayedAnswer(stray, encodeRequest(request, stray.body, { address, released }), {
        onPassed: (passed) => {
          // It is passed on again, perhaps many times.
          if (passed.as !== "answered") response.off("close", left);
          resolve(passed);
        },
        onBegun: () => {
          this.passed += 1;
          this.#relayed.add(stray.received);
        },
        onDrain: () => channel.resume(answer),
      });
      response.once("close", left);
      channel.pass(answer);
    });
  }

  /**
   * The replica is dead: its requests get no answer any more. One that stopped still answers those that it
   * has.
   */
  gone(replica: string, { stopped }: { readonly stopped: boolean }): void {
    if (stopped) setTimeout(() => this.gone(replica, { stopped: false }), STOPPED_MS).unref();
    else for (const channel of this.#channels.values()) if (channel.replica === replica) channel.destroy();
  }

  close(): void {
    for (const channel of this.#channels.values()) channel.destroy();
  }

  #channelTo(target: ChannelTarget): HopChannel {
    const { agent, self } = this.#parts;
    const key = `${target.id} ${target.address}`;
    const known = this.#channels.get(key);
    if (known) return known;
    const onClosed = (): void => {
      if (this.#channels.get(key) === channel) this.#channels.delete(key);
    };
    const channel: HopChannel = new HopChannel({ agent, self, target, onClosed });
    this.#channels.set(key, channel);
    return channel;
  }
}

/** What a child says of its own accord, and whom it is for. Where that cannot be known nobody is asked or told: it does not guess. */

import type { Origin } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { EMPTY_OBJECT, type Raw } from "../kernel/raw.ts";
import type { Incoming, PeerHandlers, Via } from "../rpc/peer.ts";
import type { Audience } from "./audience.ts";
import { type Attribution, attribute, type Claim, type Gone, passOn } from "./claim.ts";
import type { Dialect } from "./dialect.ts";

export interface HearingParts {
  readonly label: string;
  /** Whoever uses the connection at the moment. */
  readonly claims: ReadonlySet<Claim>;
  readonly audience: Audience;
  readonly log: Log;
  readonly clock: Clock;
  /** Says something to the child on the stream that it spoke on. */
  notify(method: string, params: Raw, via: Via): void;
  /** One of its lists changed. */
  onListChanged(method: string): void;
}

/** A child may not hear at once, or ever, that a call was given up: for so long what it asks may still be about it. */
const LEFT_MS = 10_000;

const LIST_CHANGED = /^notifications\/(tools|prompts|resources)\/list_changed$/;

export class Hearing implements PeerHandlers {
  /** Once the child was met: it knows what of a notification is for others. */
  dialect: Dialect | undefined;
  readonly #parts: HearingParts;
  /** Who gave up a call and when, by session, oldest first. */
  readonly #left = new Map<string, Gone & { readonly at: number }>();

  constructor(parts: HearingParts) {
    this.#parts = parts;
  }

  /** A call of this client was given up before it was answered. */
  left({ session, caller }: Origin): void {
    this.#left.delete(session);
    this.#left.set(session, { session, caller, at: this.#parts.clock.now() });
    this.#forget();
  }

  #forget(): void {
    const since = this.#parts.clock.now() - LEFT_MS;
    for (const [session, { at }] of this.#left) {
      if (at > since) return;
      this.#left.delete(session);
    }
  }

  #attribute(via: Via): Attribution {
    this.#forget();
    return attribute(this.#parts.claims, via, [...this.#left.values()]);
  }

  onRequest(request: Incoming): Promise<Raw> {
    const { method, via } = request;
    if (method === "ping") return Promise.resolve(EMPTY_OBJECT);
    return passOn(request, this.#attribute(via), (progress) =>
      this.#parts.notify("notifications/progress", progress, via),
    );
  }

  onNotification(method: string, said: Raw | undefined, via: Via): void {
    const heard = this.dialect ? this.dialect.heard(method, said) : { params: said };
    if (!heard) return;
    const { params } = heard;
    const { label, audience, log } = this.#parts;
    if (LIST_CHANGED.test(method)) return this.#parts.onListChanged(method);
    if (method === "notifications/resources/updated") return audience.updated(params);
    const by = this.#attribute(via);
    if (method !== "notifications/message") return audience.tell(method, params, by);
    if ("refusal" in by) log.debug(`${label}: ${params?.toString().slice(0, 500)}`);
    else if (by.claims.some(({ origin }) => audience.wants(origin.session, params)))
      by.uplink.notify(method, params);
  }
}

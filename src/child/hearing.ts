/** What a child says of its own accord, and whom it is for. Where that cannot be known nobody is asked or told: it does not guess. */
import type { Log } from "../kernel/log.ts";
import { EMPTY_OBJECT, type Raw } from "../kernel/raw.ts";
import type { Incoming, PeerHandlers, Via } from "../rpc/peer.ts";
import type { Audience } from "./audience.ts";
import { attribute, type Claim, passOn } from "./claim.ts";
import type { Dialect } from "./dialect.ts";

export interface HearingParts {
  readonly label: string;
  /** Whoever uses the connection at the moment. */
  readonly claims: ReadonlySet<Claim>;
  readonly audience: Audience;
  readonly log: Log;
  /** Says something to the child on the stream that it spoke on. */
  notify(method: string, params: Raw, via: Via): void;
  /** One of its lists changed. */
  onListChanged(method: string): void;
}

const LIST_CHANGED = /^notifications\/(tools|prompts|resources)\/list_changed$/;

export class Hearing implements PeerHandlers {
  /** Once the child was met: it knows what of a notification is for others. */
  dialect: Dialect | undefined;
  readonly #parts: HearingParts;

  constructor(parts: HearingParts) {
    this.#parts = parts;
  }

  onRequest(request: Incoming): Promise<Raw> {
    const { method, via } = request;
    if (method === "ping") return Promise.resolve(EMPTY_OBJECT);
    return passOn(request, attribute(this.#parts.claims, via), (progress) =>
      this.#parts.notify("notifications/progress", progress, via),
    );
  }

  onNotification(method: string, said: Raw | undefined, via: Via): void {
    const heard = this.dialect ? this.dialect.heard(method, said) : { params: said };
    if (!heard) return;
    const { params } = heard;
    const { label, claims, audience, log } = this.#parts;
    if (LIST_CHANGED.test(method)) return this.#parts.onListChanged(method);
    if (method === "notifications/resources/updated") return audience.updated(params);
    const by = attribute(claims, via);
    if (method !== "notifications/message") return audience.tell(method, params, by);
    if ("refusal" in by) log.debug(`${label}: ${params?.toString().slice(0, 500)}`);
    else if (by.claims.some(({ origin }) => audience.wants(origin.session, params)))
      by.uplink.notify(method, params);
  }
}

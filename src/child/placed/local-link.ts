/**
 * A link to a server that this replica may run for the moment. It ends with that right: by itself, and for a
 * process also by a guard, because this process may be stopped or killed.
 */
import type { ServerSpec } from "../../config/spec.ts";
import type { Message } from "../../rpc/message.ts";
import type { Via } from "../../rpc/peer.ts";
import { ChildFailure, type Connector, type HeadersOf, type Link, type LinkEvents } from "../link.ts";
import { Guard } from "./guard.ts";
import type { PlacedLink, PlaceHere } from "./placement.ts";

interface Opening {
  readonly spec: ServerSpec;
  readonly events: LinkEvents;
  readonly place: PlaceHere;
  readonly signal: AbortSignal;
}

const NO_LONGER = "this replica may no longer run it";

export async function openHere(
  connector: Connector,
  { spec, events, place, signal }: Opening,
): Promise<Link> {
  const guard = spec.kind === "stdio" ? await Guard.start(place.guardMs) : undefined;
  const link = new LocalLink(events, place, guard);
  try {
    return await link.open(connector, spec, signal);
  } catch (error) {
    await link.close();
    throw error;
  }
}

class LocalLink implements Link, PlacedLink {
  readonly #events: LinkEvents;
  readonly #place: PlaceHere;
  readonly #guard: Guard | undefined;
  readonly #leave: () => void;
  readonly #opening = new AbortController();
  #link: Link | undefined;
  #ended = false;
  #closing: Promise<void> | undefined;
  stateless?: (headersOf: HeadersOf | undefined) => void;
  installing?: () => boolean;

  constructor(events: LinkEvents, place: PlaceHere, guard: Guard | undefined) {
    this.#events = events;
    this.#place = place;
    this.#guard = guard;
    this.#leave = place.join(this);
  }

  async open(connector: Connector, spec: ServerSpec, signal: AbortSignal): Promise<this> {
    const events: LinkEvents = {
      onMessage: (message, via) => this.#ended || this.#events.onMessage(message, via),
      onFailed: (id, failure) => this.#ended || this.#events.onFailed(id, failure),
      onClosed: (failure) => this.#end(failure),
    };
    const link = await connector.open(spec, events, AbortSignal.any([signal, this.#opening.signal]));
    this.#link = link;
    if (link.pid !== undefined) this.#guard?.watch(link.pid, this.#place.leftMs);
    if (link.stateless) this.stateless = (headersOf) => link.stateless?.(headersOf);
    if (link.installing) this.installing = () => link.installing?.() ?? false;
    if (this.#ended || !this.#place.valid) throw new ChildFailure("offline", NO_LONGER, { unsent: true });
    return this;
  }

  get peer(): string {
    return this.#link?.peer ?? "";
  }

  get pid(): number | undefined {
    return this.#link?.pid;
  }

  /** A process that was stopped for a while notices here that others may run the server by now. */
  send(message: Message, via?: Via, alone?: boolean): void {
    if (this.#ended) return;
    if (this.#place.valid) this.#link?.send(message, via, alone);
    else void this.lost(NO_LONGER);
  }

  agreed(protocolVersion: string): void {
    this.#link?.agreed(protocolVersion);
  }

  lastWords(): string | undefined {
    return this.#link?.lastWords();
  }

  moved(): void {
    if (!this.#ended) this.#events.onMoved?.();
  }

  renewed(): void {
    this.#guard?.renew();
  }

  lost(reason: string): Promise<void> {
    this.#opening.abort(new ChildFailure("offline", reason, { unsent: true }));
    this.#end(new ChildFailure("offline", reason));
    return this.close();
  }

  close(): Promise<void> {
    this.#ended = true;
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #end(failure: ChildFailure): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#link) this.#events.onClosed(failure);
  }

  async #close(): Promise<void> {
    await this.#link?.close();
    this.#guard?.stop();
    this.#leave();
  }
}

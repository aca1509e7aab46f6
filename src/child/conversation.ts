/** The conversation with one child: the link, the peer that speaks on it, and who hears what the child says of its own accord. */
import { masked } from "../config/secrets.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Origin } from "../kernel/call.ts";
import { Peer } from "../rpc/peer.ts";
import { ChildMessages, type ChildMessagesParts } from "./child-messages.ts";
import { type Met, meet } from "./era-2026/meet.ts";
import type { ChildFailure, Connector, Link, LinkEvents } from "./link.ts";

export interface ConversationParts extends Omit<ChildMessagesParts, "label" | "notify"> {
  readonly spec: ServerSpec;
  /** On whose behalf the child is met. */
  readonly origin: Pick<Origin, "capabilities">;
  readonly connector: () => Promise<Connector>;
  /** Which era the child spoke when it was last met, if that is known. */
  era(): string | undefined;
  /** The link closed on its own. */
  onClosed(failure: ChildFailure): void;
}

export class Conversation {
  readonly #parts: ConversationParts;
  readonly #peer: Peer;
  readonly #hearing: ChildMessages;
  #link: Link | undefined;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
    this.#hearing = new ChildMessages({
      ...parts,
      label: parts.spec.name,
      notify: (...said) => this.#peer.notify(...said),
    });
    this.#peer = new Peer((message, via, alone) => this.#link?.send(message, via, alone), this.#hearing);
  }

  /** It was dialled; it may have closed since. */
  get dialled(): boolean {
    return this.#link !== undefined;
  }

  get pid(): number | undefined {
    return this.#link?.pid;
  }

  /** What the child last said about itself, if it is known. */
  lastWords(): string | undefined {
    return this.#link?.lastWords();
  }

  /** A call of this client was given up before it was answered. */
  left(origin: Origin): void {
    this.#hearing.left(origin);
  }

  /** Resolves once the child had time for the roots that it was told. */
  rootsDigested(): Promise<void> {
    return this.#hearing.rootsDigested();
  }

  async dial(signal: AbortSignal): Promise<void> {
    const { spec } = this.#parts;
    const connector = await this.#parts.connector();
    const events: LinkEvents = {
      onMessage: (message, via) => this.#peer.receive(message, via),
      onFailed: (id, failure) => this.#failed(id, masked(failure, spec)),
      onClosed: (failure) => this.#parts.onClosed(masked(failure, spec)),
    };
    this.#link = await connector.open(spec, events, signal);
  }

  /** Once it is dialled. */
  async meet(signal: AbortSignal): Promise<Met> {
    const { spec, origin, clock, log } = this.#parts;
    const link = this.#link as Link;
    const met = await meet({
      peer: this.#peer,
      link,
      capabilities: origin.capabilities,
      known: this.#parts.era(),
      signal,
      clock,
      warn: (problem) => log.warn(`${spec.name}: ${problem}`, { server: spec.name }),
      onListChanged: (method) => this.#parts.onListChanged(method),
    });
    this.#hearing.dialect = met.dialect;
    link.agreed(met.greeting.protocolVersion);
    return met;
  }

  /** What waits for an answer fails with this, and so does all that is asked later. */
  destroy(failure: Error): void {
    this.#peer.destroy(failure);
  }

  close(): Promise<void> | undefined {
    return this.#link?.close();
  }

  #failed(id: number, failure: ChildFailure): void {
    // Should the link die in the same breath, this one still did not reach the child.
    if (failure.unsent) for (const claim of this.#parts.claims) if (claim.id === id) claim.id = undefined;
    this.#peer.fail(id, failure);
  }
}

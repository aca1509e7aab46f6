/** The conversation with one child: the link, the peer that speaks on it, and who hears what the child says of its own accord. */
import { masked } from "../config/secrets.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Origin } from "../kernel/call.ts";
import { Peer } from "../rpc/peer.ts";
import { type ChildLine, lineTo } from "./audience.ts";
import { ChildMessages, type ChildMessagesParts } from "./child-messages.ts";
import type { Dialect } from "./dialect.ts";
import { meet } from "./era-2026/meet.ts";
import type { Greeting } from "./handshake.ts";
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
  /** Set once the child was met. */
  dialect: Dialect | undefined;
  readonly #parts: ConversationParts;
  readonly #peer: Peer;
  readonly #hearing: ChildMessages;
  #link: Link | undefined;
  /** Attached to the audience. */
  #line: ChildLine | undefined;

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

  /** Makes the handshake. Call it after `dial`. */
  async meet(signal: AbortSignal): Promise<Greeting> {
    const { spec, origin, clock, log } = this.#parts;
    const link = this.#link as Link;
    const { greeting, dialect } = await meet({
      peer: this.#peer,
      link,
      capabilities: origin.capabilities,
      known: this.#parts.era(),
      signal,
      clock,
      warn: (problem) => log.warn(`${spec.name}: ${problem}`, { server: spec.name }),
      onListChanged: (method) => this.#parts.onListChanged(method),
    });
    this.#hearing.dialect = dialect;
    link.agreed(greeting.protocolVersion);
    this.dialect = dialect;
    return greeting;
  }

  /** After the handshake: tells the child log level and subscriptions of those who share it. `ask` sends requests of our own. */
  begin(greeting: Greeting, ask: ChildLine["ask"]): void {
    const dialect = this.dialect as Dialect;
    this.#line = lineTo(greeting, dialect, ask);
    this.#parts.audience.attach(this.#line);
    dialect.begin(greeting);
  }

  /** Fails pending requests and all later ones with this failure. */
  destroy(failure: Error): void {
    this.#peer.destroy(failure);
  }

  /** Like `destroy`, and leaves the audience and all streams of the child. */
  end(failure: Error): void {
    if (this.#line) this.#parts.audience.detach(this.#line);
    this.dialect?.end(failure);
    this.destroy(failure);
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

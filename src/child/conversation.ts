/**
 * The protocol side of one connection: the link, the JSON-RPC peer on it, the handshake, and the handling of
 * the child's own messages.
 */
import { masked } from "../config/secrets.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Origin } from "../kernel/call.ts";
import { Peer } from "../rpc/peer.ts";
import { type ConnectedChild, connectedChild } from "./audience.ts";
import { ChildMessages, type ChildMessagesParts } from "./child-messages.ts";
import type { StartPhase } from "./connect-limit.ts";
import type { Dialect } from "./dialect.ts";
import { mayInstall } from "./download.ts";
import { negotiateEra } from "./era-2026/negotiate-era.ts";
import type { HandshakeResult } from "./handshake.ts";
import type { ChildFailure, Connector, Link, LinkEvents } from "./link.ts";
import { withoutReservedKeys } from "./reserved-keys.ts";

export interface ConversationParts extends Omit<ChildMessagesParts, "label" | "notify"> {
  readonly spec: ServerSpec;
  /** The client for which the connection is opened. */
  readonly origin: Pick<Origin, "capabilities">;
  readonly connector: () => Promise<Connector>;
  /** The era that the child spoke at its last handshake, if known. */
  era(): string | undefined;
  /** The link closed by itself. */
  onClosed(failure: ChildFailure): void;
  /** New requests belong on another link. */
  onMoved(): void;
}

export class Conversation {
  /** Set by the handshake. */
  dialect: Dialect | undefined;
  readonly #parts: ConversationParts;
  readonly #peer: Peer;
  readonly #messages: ChildMessages;
  #link: Link | undefined;
  /** Set while the audience is attached to it. */
  #child: ConnectedChild | undefined;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
    this.#messages = new ChildMessages({
      ...parts,
      label: parts.spec.name,
      notify: (...notification) => this.#peer.notify(...notification),
    });
    this.#peer = new Peer((message, via, alone) => this.#link?.send(message, via, alone), this.#messages);
  }

  /** The link was opened. It may have closed since. */
  get dialled(): boolean {
    return this.#link !== undefined;
  }

  get pid(): number | undefined {
    return this.#link?.pid;
  }

  /** How far the start of the server is, as far as it is known. */
  get startPhase(): StartPhase {
    if (!this.#link) return mayInstall(this.#parts.spec) ? "waiting" : "started";
    return this.#link.installing?.() ? "installing" : "started";
  }

  /** The last output of the child about itself, if there is any. */
  lastWords(): string | undefined {
    return this.#link?.lastWords();
  }

  /** A call of this client was cancelled before it was answered. */
  callCancelled(origin: Origin): void {
    this.#messages.callCancelled(origin);
  }

  /** Resolves once the child had time to process the roots it was sent. */
  rootsSettled(): Promise<void> {
    return this.#messages.rootsSettled();
  }

  async dial(signal: AbortSignal): Promise<void> {
    const { spec } = this.#parts;
    const connector = await this.#parts.connector();
    const events: LinkEvents = {
      onMessage: (message, via) => this.#peer.receive(withoutReservedKeys(message), via),
      onFailed: (id, failure) => this.#failed(id, masked(failure, spec)),
      onClosed: (failure) => this.#parts.onClosed(masked(failure, spec)),
      onMoved: () => this.#parts.onMoved(),
    };
    this.#link = await connector.open(spec, events, signal);
  }

  /** Call it after `dial`. */
  async handshake(signal: AbortSignal): Promise<HandshakeResult> {
    const { spec, origin, clock, log } = this.#parts;
    const link = this.#link as Link;
    const { handshake, dialect } = await negotiateEra({
      peer: this.#peer,
      link,
      capabilities: origin.capabilities,
      known: this.#parts.era(),
      signal,
      clock,
      warn: (problem) => log.warn(`${spec.name}: ${problem}`, { server: spec.name }),
      onListChanged: (method) => this.#parts.onListChanged(method),
    });
    this.#messages.dialect = dialect;
    link.agreed(handshake.protocolVersion);
    this.dialect = dialect;
    return handshake;
  }

  /**
   * Call it after the handshake: sends the child the log level and the subscriptions of its audience. `ask`
   * sends our own requests.
   */
  begin(handshake: HandshakeResult, ask: ConnectedChild["ask"]): void {
    const dialect = this.dialect as Dialect;
    this.#child = connectedChild(handshake, dialect, ask);
    this.#parts.audience.attach(this.#child);
    dialect.begin(handshake);
  }

  /** Fails pending requests and all later ones with this failure. */
  destroy(failure: Error): void {
    this.#peer.destroy(failure);
  }

  /** Like `destroy`; also detaches the audience and ends the streams of the dialect. */
  end(failure: Error): void {
    if (this.#child) this.#parts.audience.detach(this.#child);
    this.dialect?.end(failure);
    this.destroy(failure);
  }

  close(): Promise<void> | undefined {
    return this.#link?.close();
  }

  #failed(id: number, failure: ChildFailure): void {
    // If the link closes right after this, the claim must still count as unsent.
    if (failure.unsent) for (const claim of this.#parts.claims) if (claim.id === id) claim.id = undefined;
    this.#peer.fail(id, failure);
  }
}

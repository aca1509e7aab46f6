/** A client of an endpoint within this process: its own side of the conversation, and a session on the other. No bytes are written in between. */
import { EMPTY_OBJECT, type Raw, toRaw } from "../../kernel/raw.ts";
import type { Signal } from "../../kernel/signal.ts";
import { Peer, type PeerHandlers } from "../../rpc/peer.ts";
import { LEGACY_VERSIONS, type Session } from "../../session/session.ts";

export interface LocalClientParts {
  /** What it says of itself. */
  readonly about: { readonly name: string; readonly version: string };
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly onRequest: PeerHandlers["onRequest"];
  readonly onNotification: (method: string, params: Raw | undefined) => void;
}

export interface LocalRequest {
  readonly signal?: Signal;
  /** Hears the progress that `params` ask for. */
  readonly onProgress?: (params: Raw) => void;
}

export class LocalClient {
  readonly session: Session;
  readonly #peer: Peer;
  readonly #parts: LocalClientParts;

  constructor(open: (receive: Peer["receive"]) => Session, parts: LocalClientParts) {
    const { onRequest, onNotification } = parts;
    this.#parts = parts;
    this.#peer = new Peer((message) => this.session.receive(message), { onRequest, onNotification });
    this.session = open((message) => this.#peer.receive(message));
  }

  /** The handshake, where the session needs one. */
  async begin(): Promise<Raw> {
    if (this.session.stateless) return EMPTY_OBJECT;
    const { about, capabilities } = this.#parts;
    const greeting = { protocolVersion: LEGACY_VERSIONS[0], capabilities, clientInfo: about };
    const greeted = await this.#peer.request("initialize", toRaw(greeting));
    this.#peer.notify("notifications/initialized", undefined);
    return greeted;
  }

  /** Rejects with RpcError, the reason of the signal, or the reason of its end. */
  request(method: string, params: Raw, options: LocalRequest = {}): Promise<Raw> {
    return this.#peer.request(method, params, options);
  }

  /** Whatever is under way rejects with the reason. */
  end(reason: Error): void {
    this.#peer.destroy(reason);
  }
}

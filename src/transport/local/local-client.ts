/**
 * An MCP client inside this process, connected to a session of an endpoint. Messages are passed as objects,
 * not encoded.
 */
import { EMPTY_OBJECT, type Raw, toRaw } from "../../kernel/raw.ts";
import type { Signal } from "../../kernel/signal.ts";
import { Peer, type PeerHandlers } from "../../rpc/peer.ts";
import { LEGACY_VERSIONS } from "../../session/handshake.ts";
import type { Session } from "../../session/session.ts";

export interface LocalClientParts {
  /** Sent as `clientInfo`. */
  readonly about: { readonly name: string; readonly version: string };
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly onRequest: PeerHandlers["onRequest"];
  readonly onNotification: (method: string, params: Raw | undefined) => void;
}

export interface LocalRequest {
  readonly signal?: Signal;
  /** Receives the progress notifications that `params` request by a progress token. */
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

  /**
   * Performs the handshake and returns its result. A stateless session needs none; the result is then empty.
   */
  async begin(): Promise<Raw> {
    if (this.session.stateless) return EMPTY_OBJECT;
    const { about, capabilities } = this.#parts;
    const params = { protocolVersion: LEGACY_VERSIONS[0], capabilities, clientInfo: about };
    const result = await this.#peer.request("initialize", toRaw(params));
    this.#peer.notify("notifications/initialized", undefined);
    return result;
  }

  /** Rejects with an RpcError, with the reason of the signal, or with the reason given to `end`. */
  request(method: string, params: Raw, options: LocalRequest = {}): Promise<Raw> {
    return this.#peer.request(method, params, options);
  }

  /** Rejects all requests in flight with the reason. */
  end(reason: Error): void {
    this.#peer.destroy(reason);
  }
}

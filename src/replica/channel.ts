/**
 * The encrypted channel between replicas: TLS with a key that both derive from the secret of the store. Who
 * lacks the key cannot finish the handshake. There are no certificates.
 */

import type { RequestListener } from "node:http";
import { Agent, type AgentOptions } from "node:http";
import { createServer, type Server as HttpsServer } from "node:https";
import { connect, type TLSSocket } from "node:tls";

/** The only cipher suites with both a shared key and forward secrecy are those of TLS 1.2. */
const SUITE = {
  ciphers: "ECDHE-PSK-CHACHA20-POLY1305",
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.2",
} as const;
/** A replica that was stopped accepts connections, but no handshake ends. */
const HANDSHAKE_MS = 2_000;

export function createChannelServer(key: Buffer, listener: RequestListener): HttpsServer {
  const limits = { keepAliveTimeout: 120_000, maxHeaderSize: 64 * 1024, requestTimeout: 0 };
  return createServer({ ...SUITE, ...limits, pskCallback: () => key }, listener);
}

/**
 * `https.Agent` does not reuse connections without a certificate on all versions of Node, `http.Agent` does.
 */
export class ChannelAgent extends Agent {
  readonly #key: Buffer;
  readonly #identity: string;

  constructor(key: Buffer, identity: string) {
    super({ keepAlive: true, maxFreeSockets: 64, scheduling: "lifo" });
    this.#key = key;
    this.#identity = identity;
  }

  override createConnection({
    host,
    port,
  }: AgentOptions & { host?: string; port?: number | string }): TLSSocket {
    const socket = connect({
      ...SUITE,
      host: host ?? "",
      port: Number(port),
      // The key proves who it is: there is no name to compare.
      checkServerIdentity: () => undefined,
      pskCallback: () => ({ psk: this.#key, identity: this.#identity }),
    });
    const timer = setTimeout(
      () => socket.destroy(new Error("the TLS handshake took too long")),
      HANDSHAKE_MS,
    );
    socket.setNoDelay(true);
    socket.once("close", () => clearTimeout(timer));
    socket.once("secureConnect", () => clearTimeout(timer));
    return socket;
  }
}

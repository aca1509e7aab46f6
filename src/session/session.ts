/** One client: its handshake, what it declared, and the way back to it. Knows neither streams nor tools. */
import { randomUUID } from "node:crypto";
import type { Origin, Uplink } from "../kernel/call.ts";
import { EMPTY_OBJECT, fromRaw, kept, type Raw, toRaw } from "../kernel/raw.ts";
import { IMPLEMENTATION } from "../kernel/version.ts";
import type { Malformed, Message } from "../rpc/message.ts";
import { type Incoming, Peer, type Send, type Via } from "../rpc/peer.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RpcError } from "../rpc/rpc-error.ts";
import { isObject, members } from "../rpc/slice.ts";
import type { Face, ListName } from "../surface/face.ts";
import { ListWatch } from "./list-watch.ts";

export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

const STRUCTURED_SINCE = "2025-06-18";
const UNASKABLE = RpcError.of(INTERNAL_ERROR, "the client cannot be asked: there are no sessions here");

export class Session {
  readonly id = randomUUID().replaceAll("-", "");
  readonly #peer: Peer;
  readonly #face: Face;
  readonly #send: Send;
  readonly #lists: ListWatch | undefined;
  readonly #listing: ((list: ListName) => (version?: string) => void) | undefined;
  #origin: Origin | undefined;
  readonly #stateless: boolean;
  #refusing = false;
  /** Settles when the handshake is answered; undefined before and after. */
  #beginning: Promise<void> | undefined;

  constructor(face: Face, send: Send, stateless = false) {
    this.#face = face;
    this.#stateless = stateless;
    this.#send = send;
    this.#peer = new Peer(send, {
      onRequest: (request) => this.#onRequest(request),
      onNotification: (method, params) => {
        if (this.#origin && method !== "notifications/initialized")
          face.notified?.(method, params, this.#origin);
      },
    });
    if (stateless) this.#origin = this.#originWith(EMPTY_OBJECT);
    else if (face.lists) {
      const lists = new ListWatch();
      this.#lists = lists;
      this.#listing = (list) => lists.listing(list);
    }
  }

  /** Its handshake is done. */
  get open(): boolean {
    return this.#origin !== undefined;
  }

  /** Requests of the client that are not answered yet. */
  get serving(): number {
    return this.#peer.serving;
  }

  receive(message: Message | Malformed, via?: Via): void {
    this.#peer.receive(message, via);
    // Whoever sent it waits for an answer, even where the id of the request cannot be read.
    if (message.kind === "malformed" && !message.id && message.meant !== "answer") {
      const { raw } = RpcError.of(message.code, message.reason);
      this.#send({ kind: "error", id: undefined, error: raw }, via);
    }
  }

  /** A notification of ours, outside of any request. */
  notify(method: string, params?: Raw): void {
    if (this.#origin) this.#peer.notify(method, params);
  }

  /** The catalog changed: tells the client if a list of its own did. */
  tellChanges(): void {
    if (!this.#origin || !this.#lists) return;
    for (const method of this.#lists.due(this.#face.lists?.() ?? {})) this.notify(method);
  }

  /** The config changed: what is new in it is to appear in lists that the client has seen. */
  catchUp(): void {
    if (this.#origin && this.#lists?.used) this.#face.learn?.(this.#origin);
  }

  /** A request of ours cannot reach the client: there is no stream to send it on. */
  unanswerable(id: Raw): void {
    const reason = "the client has no stream open on which it could be asked";
    this.#peer.fail(Number(id), RpcError.of(INTERNAL_ERROR, reason));
  }

  /** New requests are turned away from now on; those under way go on. */
  refuse(): void {
    this.#refusing = true;
  }

  /** Ends it for good: what is under way is aborted. */
  destroy(reason: Error): void {
    this.#peer.destroy(reason);
  }

  /** Not async: what throws here is an answer all the same, and every call comes by. */
  #onRequest(request: Incoming): Promise<Raw> {
    if (this.#refusing) throw RpcError.of(INTERNAL_ERROR, "MetaMCP is stopping");
    if (request.method === "initialize") return this.#begin(request.params);
    if (request.method === "ping") return Promise.resolve(EMPTY_OBJECT);
    // Sent along with the handshake: its answer goes first.
    if (this.#beginning) return this.#beginning.then(() => this.#handle(request));
    return this.#handle(request);
  }

  #begin(params: Raw | undefined): Promise<Raw> {
    const greeting = this.#initialize(params);
    const over = (): void => {
      this.#beginning = undefined;
    };
    this.#beginning = greeting.then(over, over);
    return greeting;
  }

  #handle(request: Incoming): Promise<Raw> {
    const origin = this.#origin;
    if (!origin) throw RpcError.of(INVALID_REQUEST, "Not initialized: send an initialize request first");
    const { method, params, signal, via } = request;
    const listing = this.#listing;
    return this.#face.handle({ method, params, origin, signal, uplink: this.#uplink(via), listing });
  }

  async #initialize(params: Raw | undefined): Promise<Raw> {
    if (this.#origin && !this.#stateless) throw RpcError.of(INVALID_REQUEST, "Already initialized");
    const [version, capabilities = EMPTY_OBJECT] = params
      ? members(params, ["protocolVersion", "capabilities"])
      : [];
    const wanted = version && fromRaw(version);
    if (typeof wanted !== "string" || !isObject(capabilities)) {
      throw RpcError.of(INVALID_PARAMS, "initialize needs a protocolVersion and an object of capabilities");
    }
    this.#origin = this.#originWith(kept(capabilities), wanted);
    await this.#face.prepare?.();
    // What it would list now, had it asked.
    this.#lists?.due(this.#face.lists?.() ?? {});
    return toRaw({
      protocolVersion: LEGACY_VERSIONS.find((known) => known === wanted) ?? LEGACY_VERSIONS[0],
      capabilities: this.#face.capabilities,
      serverInfo: IMPLEMENTATION,
      instructions: this.#face.instructions(),
    });
  }

  #originWith(capabilities: Raw, version: string = LEGACY_VERSIONS[0]): Origin {
    return {
      session: this.id,
      capabilities,
      uplink: this.#uplink(undefined),
      // Versions are dates.
      ...(version < STRUCTURED_SINCE && { textOnly: true }),
      ...(this.#stateless && { caller: "stateless" }),
    };
  }

  #uplink(via: Via): Uplink {
    return {
      notify: (method, params) => this.#peer.notify(method, params, via),
      request: (method, params, signal, more) => {
        // Its answer would be a stranger's message: nobody could tell what it belongs to.
        if (this.#stateless) return Promise.reject(UNASKABLE);
        return this.#peer.request(method, params, {
          signal,
          via,
          ...(more?.onProgress && { onProgress: more.onProgress }),
        });
      },
    };
  }
}

/**
 * The session of one client: its handshake, its capabilities, and requests to it. Knows neither streams nor
 * tools.
 */
import { randomUUID } from "node:crypto";
import type { Origin, Uplink } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { LARGE_BYTES, ownTurn } from "../kernel/own-turn.ts";
import { accountOf, type Identity } from "../kernel/principal.ts";
import { EMPTY_OBJECT, type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal, unlessAborted } from "../kernel/signal.ts";
import type { TraceHeaders } from "../kernel/traceparent.ts";
import { IMPLEMENTATION } from "../kernel/version.ts";
import type { Malformed, Message } from "../rpc/message.ts";
import { type Incoming, Peer, type Send, type Via } from "../rpc/peer.ts";
import { INTERNAL_ERROR, INVALID_REQUEST, RpcError } from "../rpc/rpc-error.ts";
import { member } from "../rpc/slice.ts";
import { withExtensions } from "../surface/capabilities.ts";
import type { ListName, Surface } from "../surface/surface.ts";
import { ClientRoots } from "./client-roots.ts";
import { type Handshake, readHandshake, writeHandshake } from "./handshake.ts";
import { isKept, type KeptState, keptAfter, NOTHING_KEPT, requestsFor } from "./kept-state.ts";
import { ListWatch } from "./list-watch.ts";
import { refuseLongNames } from "./long-names.ts";

const CANNOT_ASK = RpcError.of(INTERNAL_ERROR, "the client cannot be asked without a session");

/** A stream (`Via`) that knows the trace headers of its HTTP request. */
export interface Traced {
  readonly trace: TraceHeaders | undefined;
}

/** Times on the session's clock. */
export interface SessionUse {
  readonly since: number;
  readonly lastSeen: number;
  readonly calls: number;
}

export interface SessionOptions extends Identity {
  readonly clock: Clock;
  /** By default a random one: over HTTP only the client may know it. */
  readonly id?: string;
  /** The session needs no handshake and sends the client no requests. */
  readonly stateless?: boolean;
  /** Called when the handshake is done. */
  readonly onInitialized?: (session: Session) => void;
  /** Called with what the client said at initialize. The answer waits for it. */
  readonly onHandshake?: ((said: Raw) => Promise<void>) | undefined;
  /** Called with all that the client has set in its session, when it sets something. */
  readonly onKept?: ((kept: KeptState) => void) | undefined;
  /** The session goes on that began in another process. */
  readonly resumed?: ResumedSession | undefined;
}

/** A session that began in another process. */
export interface ResumedSession {
  readonly id: string;
  /** What the client said at initialize. */
  readonly said: Raw;
  readonly kept?: KeptState | undefined;
}

export class Session {
  readonly id: string;
  readonly #peer: Peer;
  readonly #surface: Surface;
  readonly #send: Send;
  readonly #lists: ListWatch | undefined;
  readonly #listing: ((list: ListName) => (version?: string) => void) | undefined;
  #origin: Origin | undefined;
  #roots: ClientRoots | undefined;
  readonly #options: SessionOptions;
  #refusing = false;
  #batches = false;
  #calls = 0;
  readonly #since: number;
  #lastSeen: number;
  /** Resolves when the handshake is answered; undefined before and after. */
  #handshake: Promise<void> | undefined;
  #inHandshake = false;
  #kept: KeptState = NOTHING_KEPT;
  /**
   * Requests to the client, held until its first request after the handshake; undefined afterwards. Before
   * the handshake the client must not be asked, and over HTTP it has no stream for requests until then.
   */
  #held: (() => void)[] | undefined = [];

  constructor(surface: Surface, send: Send, options: SessionOptions) {
    this.id = options.resumed?.id ?? options.id ?? randomUUID().replaceAll("-", "");
    this.#surface = surface;
    this.#options = options;
    this.#since = options.clock.now();
    this.#lastSeen = this.#since;
    this.#send = send;
    this.#peer = new Peer(send, {
      onRequest: (request) => this.#onRequest(request),
      onNotification: (method, params) => {
        if (this.#origin && method !== "notifications/initialized")
          void this.#notified(method, params, this.#origin);
      },
    });
    if (options.stateless) this.#origin = this.#originOf({ capabilities: EMPTY_OBJECT });
    else if (surface.lists) {
      const lists = new ListWatch();
      this.#lists = lists;
      this.#listing = (list) => lists.listing(list);
    }
    if (options.resumed) this.#resume(options.resumed);
  }

  get stateless(): boolean {
    return this.#options.stateless ?? false;
  }

  /** The client has sent a valid `initialize`, or the session is stateless. */
  get open(): boolean {
    return this.#origin !== undefined;
  }

  /** Undefined before the handshake. */
  get origin(): Origin | undefined {
    return this.#origin;
  }

  get use(): SessionUse {
    return { since: this.#since, lastSeen: this.#lastSeen, calls: this.#calls };
  }

  /** The client's protocol version has batches. */
  get batches(): boolean {
    return this.#batches;
  }

  /** Number of the client's requests without an answer. */
  get serving(): number {
    return this.#peer.serving;
  }

  receive(message: Message | Malformed, via?: Via): void {
    this.#lastSeen = this.#options.clock.now();
    this.#peer.receive(message, via);
    // The client waits for an answer even if the id of its request cannot be read.
    if (message.kind === "malformed" && !message.id && message.meant !== "answer") {
      const { raw } = RpcError.of(message.code, message.reason);
      this.#send({ kind: "error", id: undefined, error: raw }, via);
    }
  }

  /** Sends a notification that belongs to no request. */
  notify(method: string, params?: Raw): void {
    if (this.#origin) this.#peer.notify(method, params);
  }

  /**
   * Called when the catalog changed. Notifies the client of its changed lists. Returns 1 if it was notified,
   * else 0.
   */
  tellChanges(): number {
    if (!this.#origin || !this.#lists) return 0;
    const due = this.#lists.due(this.#surface.lists?.(this.#origin) ?? {});
    for (const method of due) this.notify(method);
    return due.length > 0 ? 1 : 0;
  }

  /** Called when the config changed. Loads the lists of new servers if the client has requested a list. */
  loadMissingLists(account?: string): void {
    const origin = this.#origin;
    if (!origin || !this.#lists?.used) return;
    if (account === undefined || accountOf(origin.principal) === account) this.#surface.loadMissing?.(origin);
  }

  /** Fails a request to the client, because no stream can carry it. */
  unanswerable(id: Raw): void {
    const reason = "the client has no open stream for questions";
    this.#peer.fail(Number(id), RpcError.of(INTERNAL_ERROR, reason));
  }

  /** Refuses all further requests. Requests in flight continue. */
  refuse(): void {
    this.#refusing = true;
  }

  /** Ends the session: aborts requests in flight and answers them with the reason. */
  dismiss(reason: Error): void {
    this.#peer.dismiss(reason);
  }

  /** Ends the session of a client that is gone: aborts requests in flight without an answer. */
  destroy(reason: Error): void {
    this.#peer.destroy(reason);
    this.#sendHeld();
  }

  /** Not async, because every call passes here. The peer answers thrown errors like rejections. */
  #onRequest(request: Incoming): Promise<Raw> {
    if (this.#refusing) throw RpcError.of(INTERNAL_ERROR, "MetaMCP is stopping");
    if (request.method === "initialize") return this.#startHandshake(request.params);
    if (request.method === "ping") return Promise.resolve(EMPTY_OBJECT);
    // A request that arrives during the handshake waits, so that the handshake is answered first.
    return this.#handshake ? this.#handshake.then(() => this.#serve(request)) : this.#serve(request);
  }

  #serve(request: Incoming): Promise<Raw> {
    if (this.#held) this.#sendHeld();
    // The messages of a batch arrive together.
    if (request.params && request.params.length >= LARGE_BYTES)
      return ownTurn().then(() => {
        refuseLongNames(request.params);
        return this.#handle(request);
      });
    return this.#handle(request);
  }

  #sendHeld(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const ask of held) ask();
  }

  #startHandshake(params: Raw | undefined): Promise<Raw> {
    const answer = this.#initialize(params);
    this.#holdRequests(answer);
    return answer;
  }

  /** Requests wait until the handshake is answered, and the client is not asked until then. */
  #holdRequests(handshake: Promise<unknown>): void {
    const done = (): void => {
      this.#handshake = undefined;
      this.#inHandshake = false;
    };
    this.#handshake = handshake.then(done, done);
  }

  /** Servers ask for the roots as soon as they hear of a change, so the new roots are requested first. */
  async #notified(method: string, params: Raw | undefined, origin: Origin): Promise<void> {
    if (method === "notifications/roots/list_changed") {
      if (!this.#roots) return;
      await this.#roots.changed();
    }
    this.#surface.notified?.(method, params, origin);
  }

  #handle(request: Incoming): Promise<Raw> {
    const origin = this.#origin;
    if (!origin) throw RpcError.of(INVALID_REQUEST, "Not initialized: send an initialize request first");
    const { id, method, params, signal, via } = request;
    const listing = this.#listing;
    if (method === "tools/call") this.#calls++;
    const trace = traceOf(via);
    const uplink = this.#uplink(via);
    const overNetwork = isTraced(via);
    const answer = this.#surface.handle({
      method,
      id,
      overNetwork,
      params,
      origin,
      signal,
      uplink,
      listing,
      trace,
      // Present even if undefined: recording copies this object with a trail, and a copy that adds members is
      // far slower.
      trail: undefined,
    });
    const { onKept } = this.#options;
    return onKept && isKept(method) ? answer.then((result) => this.#keep(request, result, onKept)) : answer;
  }

  #keep({ method, params }: Incoming, result: Raw, onKept: (kept: KeptState) => void): Raw {
    this.#kept = keptAfter(this.#kept, method, params);
    onKept(this.#kept);
    return result;
  }

  #resume({ said, kept = {} }: ResumedSession): void {
    this.#kept = kept;
    this.#lists?.forget();
    this.#holdRequests(this.#begin(readHandshake(said)).then((origin) => this.#restore(origin, kept)));
  }

  /** Sets again what the client had set. Requests do not wait for it, because servers may have to start. */
  #restore(origin: Origin, kept: KeptState): void {
    const { uplink } = origin;
    const ask = async (request: ReturnType<typeof requestsFor>[number]): Promise<Raw> =>
      await this.#surface.handle({ ...request, origin, uplink, signal: new CallSignal() });
    // What cannot be set any more is not there any more.
    for (const request of requestsFor(kept)) ask(request).catch(() => {});
  }

  async #initialize(params: Raw | undefined): Promise<Raw> {
    if (this.#origin && !this.#options.stateless) throw RpcError.of(INVALID_REQUEST, "Already initialized");
    const handshake = readHandshake(params);
    const origin = await this.#begin(handshake);
    await this.#options.onHandshake?.(writeHandshake(handshake));
    return toRaw({
      protocolVersion: handshake.version,
      capabilities: withExtensions(this.#surface.capabilities, this.#surface.extensions?.(origin)),
      serverInfo: this.#surface.serverInfo ?? IMPLEMENTATION,
      instructions: this.#surface.instructions(origin),
    });
  }

  async #begin(handshake: Handshake): Promise<Origin> {
    this.#inHandshake = true;
    const origin = this.#originOf(handshake);
    this.#origin = origin;
    this.#batches = handshake.batches;
    await this.#surface.prepare?.(origin);
    // Records the current lists as seen; the client has had no chance to request them.
    if (!this.#options.resumed) this.#lists?.due(this.#surface.lists?.(origin) ?? {});
    this.#options.onInitialized?.(this);
    return origin;
  }

  /** A literal with all members, because objects that are put together have a hidden class each. */
  #originOf({
    capabilities,
    client,
    version,
    textOnly,
  }: Partial<Handshake> & Pick<Handshake, "capabilities">): Origin {
    const { endpoint, principal, stateless, clock } = this.#options;
    const toClient = this.#uplink(undefined);
    const uplink: Uplink = {
      ...toClient,
      notify: (method, params) => {
        if (this.#surface.hears?.(method, principal) ?? true) toClient.notify(method, params);
      },
    };
    if (member(capabilities, "roots"))
      this.#roots = new ClientRoots((signal) => uplink.request("roots/list", undefined, signal), {
        clock,
        inHandshake: () => this.#inHandshake,
      });
    return {
      endpoint,
      principal,
      session: this.id,
      capabilities,
      client,
      protocolVersion: version,
      roots: this.#roots,
      textOnly,
      sessionless: stateless,
      unlisted: stateless,
      resumed: this.#options.resumed !== undefined,
      uplink,
    };
  }

  #uplink(via: Via): Uplink {
    return {
      notify: (method, params) => {
        if (!this.#inHandshake) this.#peer.notify(method, params, via);
      },
      request: (method, params, signal, more) => {
        // Without sessions the client's answer could not be matched to this request.
        if (this.#options.stateless) return Promise.reject(CANNOT_ASK);
        const ask = () =>
          this.#peer.request(method, params, {
            signal,
            via,
            ...(more?.onProgress && { onProgress: more.onProgress }),
          });
        if (!this.#held) return ask();
        const asked = new Promise<Raw>((resolve) => this.#held?.push(() => resolve(ask())));
        return unlessAborted(asked, signal);
      },
    };
  }
}

/** The trace headers of the HTTP request that the answer goes to; undefined for other transports. */
function traceOf(via: Via): TraceHeaders | undefined {
  return isTraced(via) ? via.trace : undefined;
}

function isTraced(via: Via): via is Traced {
  return typeof via === "object" && "trace" in via;
}

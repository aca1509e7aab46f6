/** One client: its handshake, what it declared, and the way back to it. Knows neither streams nor tools. */
import { randomUUID } from "node:crypto";
import type { Origin, Uplink } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { accountOf, type Identity } from "../kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, kept, type Raw, toRaw } from "../kernel/raw.ts";
import { unlessAborted } from "../kernel/signal.ts";
import type { TraceHeaders } from "../kernel/traceparent.ts";
import { IMPLEMENTATION } from "../kernel/version.ts";
import type { Malformed, Message } from "../rpc/message.ts";
import { type Incoming, Peer, type Send, type Via } from "../rpc/peer.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RpcError } from "../rpc/rpc-error.ts";
import { isObject, member, members } from "../rpc/slice.ts";
import type { ListName, Surface } from "../surface/surface.ts";
import { ClientRoots } from "./client-roots.ts";
import { ListWatch } from "./list-watch.ts";

export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

const STRUCTURED_SINCE = "2025-06-18";
/** The only revision that has them. */
const BATCHES_IN = "2025-03-26";
const UNASKABLE = RpcError.of(INTERNAL_ERROR, "the client cannot be asked: there are no sessions");

/** What clients say of themselves is shown to people: more than this is no name. */
const LONGEST_ABOUT = 4_096;

/** A stream that knows the trace its request belongs to. */
export interface Traced {
  readonly trace: TraceHeaders | undefined;
}

export interface SessionUse {
  readonly since: number;
  readonly lastSeen: number;
  readonly calls: number;
}

export interface SessionOptions extends Identity {
  readonly clock: Clock;
  /** It needs no handshake and asks nothing. */
  readonly stateless?: boolean;
  /** Its handshake is done. */
  readonly onBegun?: (session: Session) => void;
}

export class Session {
  readonly id = randomUUID().replaceAll("-", "");
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
  /** On the clock of the gateway. */
  readonly #since: number;
  #lastSeen: number;
  /** Settles when the handshake is answered; undefined before and after. */
  #beginning: Promise<void> | undefined;
  #inHandshake = false;
  /**
   * What the client is to be asked, until its first request: it may not be asked before its handshake is over, and over HTTP there is
   * nothing to ask it on before that. Undefined after.
   */
  #held: (() => void)[] | undefined = [];

  constructor(surface: Surface, send: Send, options: SessionOptions) {
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
    if (options.stateless) this.#origin = this.#originWith(EMPTY_OBJECT);
    else if (surface.lists) {
      const lists = new ListWatch();
      this.#lists = lists;
      this.#listing = (list) => lists.listing(list);
    }
  }

  get stateless(): boolean {
    return this.#options.stateless ?? false;
  }

  /** Its handshake is done. */
  get open(): boolean {
    return this.#origin !== undefined;
  }

  /** What its client said of itself; undefined before the handshake. */
  get origin(): Origin | undefined {
    return this.#origin;
  }

  /** Times on the clock of the gateway. */
  get use(): SessionUse {
    return { since: this.#since, lastSeen: this.#lastSeen, calls: this.#calls };
  }

  /** The client may send several messages as one. */
  get batches(): boolean {
    return this.#batches;
  }

  /** Requests of the client that are not answered yet. */
  get serving(): number {
    return this.#peer.serving;
  }

  receive(message: Message | Malformed, via?: Via): void {
    this.#lastSeen = this.#options.clock.now();
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

  /** The catalog changed: tells the client if a list of its own did. Returns how many clients were told. */
  tellChanges(): number {
    if (!this.#origin || !this.#lists) return 0;
    const due = this.#lists.due(this.#surface.lists?.(this.#origin) ?? {});
    for (const method of due) this.notify(method);
    return due.length > 0 ? 1 : 0;
  }

  /** The config changed: what is new in it is to appear in lists that the client has seen. */
  catchUp(account?: string): void {
    const origin = this.#origin;
    if (!origin || !this.#lists?.used) return;
    if (account === undefined || accountOf(origin.principal) === account) this.#surface.learn?.(origin);
  }

  /** A request of ours cannot reach the client: there is no stream to send it on. */
  unanswerable(id: Raw): void {
    const reason = "the client has no open stream for questions";
    this.#peer.fail(Number(id), RpcError.of(INTERNAL_ERROR, reason));
  }

  /** New requests are turned away from now on; those under way go on. */
  refuse(): void {
    this.#refusing = true;
  }

  /** Ends it for good: what is under way is aborted, and answered with the reason. */
  dismiss(reason: Error): void {
    this.#peer.dismiss(reason);
  }

  /** Its client is gone: what is under way is aborted. */
  destroy(reason: Error): void {
    this.#peer.destroy(reason);
    this.#askHeld();
  }

  /** Not async: what throws here is an answer all the same, and every call comes by. */
  #onRequest(request: Incoming): Promise<Raw> {
    if (this.#refusing) throw RpcError.of(INTERNAL_ERROR, "MetaMCP is stopping");
    if (request.method === "initialize") return this.#begin(request.params);
    if (request.method === "ping") return Promise.resolve(EMPTY_OBJECT);
    // Sent along with the handshake: its answer goes first.
    if (this.#beginning) return this.#beginning.then(() => this.#handle(request));
    if (this.#held) this.#askHeld();
    return this.#handle(request);
  }

  #askHeld(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const ask of held) ask();
  }

  #begin(params: Raw | undefined): Promise<Raw> {
    this.#inHandshake = true;
    const greeting = this.#initialize(params);
    const over = (): void => {
      this.#beginning = undefined;
      this.#inHandshake = false;
    };
    this.#beginning = greeting.then(over, over);
    return greeting;
  }

  /** Servers hear that roots changed when it is known to what: they ask at once. */
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
    return this.#surface.handle({
      method,
      id,
      overNetwork,
      params,
      origin,
      signal,
      uplink,
      listing,
      trace,
      // Copied with one when it is recorded: to copy an object is far slower where the copy has more members.
      trail: undefined,
    });
  }

  async #initialize(params: Raw | undefined): Promise<Raw> {
    if (this.#origin && !this.#options.stateless) throw RpcError.of(INVALID_REQUEST, "Already initialized");
    const [version, capabilities = EMPTY_OBJECT, client] = params
      ? members(params, ["protocolVersion", "capabilities", "clientInfo"])
      : [];
    const wanted = version && fromRaw(version);
    if (typeof wanted !== "string" || !isObject(capabilities)) {
      throw RpcError.of(INVALID_PARAMS, "initialize needs a protocolVersion and an object of capabilities");
    }
    const agreed = LEGACY_VERSIONS.find((known) => known === wanted) ?? LEGACY_VERSIONS[0];
    const about = client && client.length <= LONGEST_ABOUT ? { client: kept(client) } : {};
    const origin = { ...this.#originWith(kept(capabilities), wanted), ...about, protocolVersion: agreed };
    this.#origin = origin;
    this.#batches = wanted === BATCHES_IN;
    await this.#surface.prepare?.(origin);
    // What it would list now, had it asked.
    this.#lists?.due(this.#surface.lists?.(origin) ?? {});
    this.#options.onBegun?.(this);
    return toRaw({
      protocolVersion: agreed,
      capabilities: this.#surface.capabilities,
      serverInfo: IMPLEMENTATION,
      instructions: this.#surface.instructions(origin),
    });
  }

  #originWith(capabilities: Raw, version: string = LEGACY_VERSIONS[0]): Origin {
    const { endpoint, principal, stateless, clock } = this.#options;
    const uplink = this.#uplink(undefined);
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
      uplink,
      ...(this.#roots && { roots: this.#roots }),
      // Versions are dates.
      ...(version < STRUCTURED_SINCE && { textOnly: true }),
      ...(stateless && { sessionless: true, unlisted: true }),
    };
  }

  #uplink(via: Via): Uplink {
    return {
      notify: (method, params) => {
        if (!this.#inHandshake) this.#peer.notify(method, params, via);
      },
      request: (method, params, signal, more) => {
        // Its answer would be a stranger's message: nobody could tell what it belongs to.
        if (this.#options.stateless) return Promise.reject(UNASKABLE);
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

/** Of the HTTP request on whose stream the answer goes, where there is one. */
function traceOf(via: Via): TraceHeaders | undefined {
  return isTraced(via) ? via.trace : undefined;
}

function isTraced(via: Via): via is Traced {
  return typeof via === "object" && "trace" in via;
}

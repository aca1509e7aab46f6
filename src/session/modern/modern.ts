/**
 * Clients of the stateless era (2026-07-28): each request says who asks and stands alone. There is no session, no
 * handshake and no request of ours to a client; all that is kept between two requests is what is parked.
 */
import type { Clock } from "../../kernel/clock.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import type { Message } from "../../rpc/message.ts";
import { MODERN_VERSION, UNSUPPORTED_VERSION } from "../../rpc/modern/names.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { members } from "../../rpc/slice.ts";
import type { Face } from "../../surface/face.ts";
import { Parked } from "../parked.ts";
import { bareParams, type Envelope, readEnvelope, readRetry } from "./envelope.ts";
import { Exchange, type Outlet } from "./exchange.ts";
import { checkParamHeaders, checkRequestHeaders, checkVersionHeader, type Headers } from "./headers.ts";
import { Run } from "./run.ts";
import { codeOf } from "./stamp.ts";
import { bindingOf, StateSeal } from "./state.ts";
import { Subscription } from "./subscription.ts";

type Request = Message & { kind: "request" };

/** Where a request came from. */
export interface From {
  /** Who it is, as far as the transport knows: what one was asked, only the same may answer. */
  readonly caller: string;
  /** Of a connection that is one client's own; undefined where each request is a stranger's. */
  readonly session?: string;
  readonly headers?: Headers;
  readonly send: Outlet;
}

/** A request that is being served. */
export interface Served {
  /** The client is no longer interested. Nothing is sent after. */
  cancel(reason: string): void;
}

export interface ModernParts {
  readonly face: Face;
  readonly clock: Clock;
  /** A request that was a session of its own is over, or a connection that was one. */
  onEnded(session: string): void;
}

/** As long as a call may stand still while somebody is asked. */
const PARKED_MS = 600_000;
const MOST_PARKED = 256;
const DISCOVER_TTL_MS = 60_000;

const METHODS: ReadonlySet<string> = new Set([
  "server/discover",
  "subscriptions/listen",
  "tools/list",
  "tools/call",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "completion/complete",
]);

const nothing: Served = { cancel() {} };

export class Modern {
  readonly #parts: ModernParts;
  readonly #seal = new StateSeal();
  readonly #parked: Parked<Run>;
  readonly #runs = new Set<Run>();
  readonly #subscriptions = new Set<Subscription>();
  #sessions = 0;
  #refusing = false;

  constructor(parts: ModernParts) {
    this.#parts = parts;
    this.#parked = new Parked(parts.clock, { most: MOST_PARKED, lifetimeMs: PARKED_MS });
  }

  /** Calls under way whose clients wait for an answer. */
  get serving(): number {
    return this.#runs.size - this.#parked.size;
  }

  /** New requests are turned away from now on, and nobody is waited for any more. */
  refuse(): void {
    this.#refusing = true;
    this.#parked.clear("MetaMCP is stopping");
    for (const subscription of this.#subscriptions) subscription.end();
  }

  /** The catalog changed. */
  tellChanges(): void {
    for (const subscription of this.#subscriptions) subscription.tellChanges();
  }

  /** The config changed. */
  catchUp(): void {
    for (const subscription of this.#subscriptions) subscription.catchUp();
  }

  /** A connection that was one client's own has ended. */
  left(session: string): void {
    this.#parts.onEnded(session);
  }

  serve(request: Request, from: From): Served {
    let envelope: Envelope;
    try {
      envelope = this.#admit(request, from.headers);
    } catch (error) {
      const { raw } = error as RpcError;
      from.send({ kind: "error", id: request.id, error: raw }, codeOf(raw) === METHOD_NOT_FOUND ? 404 : 400);
      return nothing;
    }
    if (this.#refusing) {
      const { raw } = RpcError.of(INTERNAL_ERROR, "MetaMCP is stopping");
      from.send({ kind: "error", id: request.id, error: raw }, 503);
      return nothing;
    }
    const exchange = new Exchange(request, envelope, from.send);
    try {
      if (request.method === "server/discover") void this.#discover(exchange);
      else if (request.method === "subscriptions/listen") return this.#listen(request, exchange);
      else return this.#call(request, envelope, exchange, from);
    } catch (error) {
      exchange.fail(error);
    }
    return nothing;
  }

  /** Throws RpcError for what is not of this era, not of this version, or contradicts itself. */
  #admit({ method, params }: Request, headers: Headers | undefined): Envelope {
    const envelope = readEnvelope(params);
    if (headers) checkVersionHeader(headers, envelope.version);
    if (envelope.version !== MODERN_VERSION) {
      const data = { supported: [MODERN_VERSION], requested: envelope.version };
      throw RpcError.of(UNSUPPORTED_VERSION, "Unsupported protocol version", data);
    }
    if (headers) this.#checkHeaders(headers, method, params as Raw);
    if (!METHODS.has(method)) throw RpcError.of(METHOD_NOT_FOUND, `Method not found: ${method}`);
    return envelope;
  }

  #checkHeaders(headers: Headers, method: string, params: Raw): void {
    checkRequestHeaders(headers, method, params);
    const { face } = this.#parts;
    const [raw] = method === "tools/call" && face.tool ? members(params, ["name"]) : [];
    const name = raw && fromRaw(raw);
    const definition = typeof name === "string" ? face.tool?.(name) : undefined;
    if (definition) checkParamHeaders(headers, definition, params);
  }

  #call({ method, params }: Request, envelope: Envelope, exchange: Exchange, from: From): Served {
    const { state, answers } = readRetry(params as Raw);
    const bare = bareParams(params as Raw);
    const run = state === undefined ? undefined : this.#resumed(state, bindingOf(from.caller, method, bare));
    if (run) run.attach(exchange, answers);
    const current = run ?? this.#begin(bare, envelope, exchange, { from, answers });
    return { cancel: (reason) => current.cancel(exchange, reason) };
  }

  #begin(
    params: Raw,
    { capabilities, logLevel }: Envelope,
    exchange: Exchange,
    { from, answers }: { from: From; answers: ReadonlyMap<string, Raw> },
  ): Run {
    const { method } = exchange;
    const session = from.session ?? this.#stranger();
    const run: Run = new Run({
      session,
      caller: `stateless ${from.caller}`,
      capabilities,
      method,
      park: (parked) => this.#park(parked, bindingOf(from.caller, method, params)),
      over: (ended) => {
        this.#runs.delete(ended);
        if (from.session === undefined) this.#parts.onEnded(session);
      },
    });
    this.#runs.add(run);
    const { origin, signal, uplink } = run;
    run.start(exchange, answers, async () => {
      const { face } = this.#parts;
      if (logLevel !== undefined) {
        const level = toRaw({ level: logLevel });
        await face.handle({ method: "logging/setLevel", params: level, origin, signal, uplink });
      }
      return await face.handle({ method, params, origin, signal, uplink });
    });
    return run;
  }

  #park(run: Run, binding: string): string {
    const { id, state } = this.#seal.make(binding);
    this.#parked.park(id, run);
    return state;
  }

  /** Nothing happens to what is parked unless the state is right in all. */
  #resumed(state: string, binding: string): Run {
    const id = this.#seal.open(state, binding);
    if (id === undefined)
      throw RpcError.of(
        INVALID_PARAMS,
        "This requestState was not given for this request: repeat it without",
      );
    const run = this.#parked.take(id);
    if (run) return run;
    throw RpcError.of(
      INVALID_PARAMS,
      "This requestState was used already or has expired: repeat the request without",
    );
  }

  #listen({ params }: Request, exchange: Exchange): Served {
    const session = this.#stranger();
    const subscription = new Subscription(exchange, params as Raw, {
      session,
      face: this.#parts.face,
      over: (ended) => {
        this.#subscriptions.delete(ended);
        this.#parts.onEnded(session);
      },
    });
    this.#subscriptions.add(subscription);
    return subscription;
  }

  #stranger(): string {
    this.#sessions += 1;
    return `stateless-${this.#sessions}`;
  }

  async #discover(exchange: Exchange): Promise<void> {
    const { face } = this.#parts;
    await face.prepare?.();
    exchange.complete(
      toRaw({
        supportedVersions: [MODERN_VERSION],
        capabilities: face.capabilities,
        instructions: face.instructions(),
        ttlMs: DISCOVER_TTL_MS,
        cacheScope: "private",
      }),
    );
  }
}

export { claimsModern } from "./envelope.ts";

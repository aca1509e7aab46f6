/**
 * Clients of the stateless era (2026-07-28): each request says who asks and stands alone. There is no session, no
 * handshake and no request of ours to a client; all that is kept between two requests is what is parked.
 */
import type { Origin, Uplink } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { holderKey } from "../../kernel/principal.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { traceHeadersIn } from "../../kernel/traceparent.ts";
import { ERA_2026_VERSION, mayAsk, TASKS, UNSUPPORTED_VERSION } from "../../rpc/era-2026/names.ts";
import type { Message } from "../../rpc/message.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { members } from "../../rpc/slice.ts";
import type { Surface } from "../../surface/surface.ts";
import { Parked } from "../parked.ts";
import { bareParams, type Envelope, type Retry, readEnvelope, readRetry } from "./envelope.ts";
import { checkParamHeaders, checkRequestHeaders, checkVersionHeader, type Headers } from "./headers.ts";
import { PendingReply } from "./pending-reply.ts";
import { codeOf } from "./stamp.ts";
import { bindingOf, StateSeal } from "./state.ts";
import { type ClientIdentity, StatelessCall } from "./stateless-call.ts";
import type { From, Served, StatelessHost } from "./stateless-host.ts";
import { Subscription } from "./subscription.ts";

type Request = Message & { kind: "request" };

export interface StatelessClientsParts {
  /** Id of the endpoint they come to. */
  readonly endpoint: string;
  readonly surface: Surface;
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
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
]);

/** Whoever wants to know what is here is asked nothing for it. */
const UNASKABLE: Uplink = {
  notify: () => {},
  request: () => Promise.reject(RpcError.of(METHOD_NOT_FOUND, "server/discover cannot ask questions")),
};

const NO_RETRY: Retry = { state: undefined, answers: new Map() };
const nothing: Served = { cancel() {} };

export class StatelessClients implements StatelessHost {
  readonly #parts: StatelessClientsParts;
  readonly #seal = new StateSeal();
  readonly #parked: Parked<StatelessCall>;
  readonly #runs = new Set<StatelessCall>();
  readonly #subscriptions = new Set<Subscription>();
  #sessions = 0;
  #refusing = false;

  constructor(parts: StatelessClientsParts) {
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

  /** The catalog changed. Returns how many clients were told. */
  tellChanges(): number {
    return [...this.#subscriptions].filter((subscription) => subscription.tellChanges()).length;
  }

  /** The config changed. */
  catchUp(account?: string): void {
    for (const subscription of this.#subscriptions) subscription.catchUp(account);
  }

  /** A connection that was one client's own has ended. */
  left(session: string): void {
    this.#parts.onEnded(session);
  }

  serve(request: Request, from: From): Served {
    let envelope: Envelope;
    try {
      envelope = this.#admit(request, from);
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
    const reply = new PendingReply(request, envelope, from.send);
    try {
      if (request.method === "server/discover") void this.#discover(reply, from);
      else if (request.method === "subscriptions/listen") return this.#listen(request, reply, from);
      else return this.#call(request, envelope, reply, from);
    } catch (error) {
      reply.fail(error);
    }
    return nothing;
  }

  /** Throws RpcError for what is not of this era, not of this version, or contradicts itself. */
  #admit({ method, params }: Request, { headers, principal }: From): Envelope {
    const envelope = readEnvelope(params);
    if (headers) checkVersionHeader(headers, envelope.version);
    if (envelope.version !== ERA_2026_VERSION) {
      const data = { supported: [ERA_2026_VERSION], requested: envelope.version };
      throw RpcError.of(UNSUPPORTED_VERSION, "Unsupported protocol version", data);
    }
    const { capabilities } = envelope;
    const asker = { endpoint: this.#parts.endpoint, principal, capabilities };
    if (headers) this.#checkHeaders(headers, method, params as Raw, asker);
    if (!METHODS.has(method)) throw RpcError.of(METHOD_NOT_FOUND, `Method not found: ${method}`);
    return envelope;
  }

  #checkHeaders(headers: Headers, method: string, params: Raw, asker: Asker): void {
    checkRequestHeaders(headers, method, params);
    const { surface } = this.#parts;
    const [raw] = method === "tools/call" && surface.tool ? members(params, ["name"]) : [];
    const name = raw && fromRaw(raw);
    const definition = typeof name === "string" ? surface.tool?.(name, asker) : undefined;
    if (definition) checkParamHeaders(headers, definition, params);
  }

  #call({ method, params }: Request, envelope: Envelope, reply: PendingReply, from: From): Served {
    const { state, answers } = mayAsk(method) ? readRetry(params as Raw) : NO_RETRY;
    const bare = bareParams(params as Raw, mayAsk(method));
    const run =
      state === undefined ? undefined : this.#resumed(state, bindingOf(this.#whose(from), method, bare));
    if (run) run.attach(reply, answers);
    const current = run ?? this.#begin(bare, envelope, reply, { from, answers });
    return { cancel: (reason) => current.cancel(reply, reason) };
  }

  #begin(
    params: Raw,
    { capabilities, logLevel, client: about }: Envelope,
    reply: PendingReply,
    { from, answers }: { from: From; answers: ReadonlyMap<string, Raw> },
  ): StatelessCall {
    const { id, method } = reply;
    const session = from.session ?? this.#stranger();
    const run: StatelessCall = new StatelessCall({
      client: this.#identity(from, session),
      capabilities,
      about,
      method,
      park: (parked) => this.#park(parked, bindingOf(this.#whose(from), method, params)),
      over: (ended) => {
        this.#runs.delete(ended);
        if (from.session === undefined) this.#parts.onEnded(session);
      },
    });
    this.#runs.add(run);
    const { origin, signal, uplink } = run;
    run.start(reply, answers, async () => {
      const { surface } = this.#parts;
      if (logLevel !== undefined) {
        const level = toRaw({ level: logLevel });
        await surface.handle({ method: "logging/setLevel", params: level, origin, signal, uplink });
      }
      return await surface.handle({
        method,
        id,
        overNetwork: from.headers !== undefined,
        params,
        origin,
        signal,
        uplink,
        trace: traceHeadersIn(from.headers),
      });
    });
    return run;
  }

  #identity(from: From, session: string): ClientIdentity {
    const { principal } = from;
    const { endpoint } = this.#parts;
    if (from.session !== undefined) return { endpoint, principal, session };
    const unlisted = from.unlisted === true || principal.kind === "anonymous";
    return { endpoint, principal, session, sessionless: true, unlisted };
  }

  /** Who may answer what was asked. */
  #whose({ session, principal }: From): string {
    return JSON.stringify([this.#parts.endpoint, holderKey(principal), session]);
  }

  #park(run: StatelessCall, binding: string): string {
    const { id, state } = this.#seal.make(binding);
    this.#parked.park(id, run);
    return state;
  }

  /** Nothing happens to what is parked unless the state is right in all. */
  #resumed(state: string, binding: string): StatelessCall {
    const id = this.#seal.open(state, binding);
    if (id === undefined)
      throw RpcError.of(
        INVALID_PARAMS,
        "This requestState belongs to another request: repeat the request without it",
      );
    const run = this.#parked.take(id);
    if (run) return run;
    throw RpcError.of(
      INVALID_PARAMS,
      "This requestState was already used or has expired: repeat the request without it",
    );
  }

  #listen({ params }: Request, reply: PendingReply, { principal, send }: From): Served {
    const session = this.#stranger();
    const subscription = new Subscription(reply, params as Raw, {
      client: this.#identity({ principal, send }, session),
      surface: this.#parts.surface,
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

  async #discover(reply: PendingReply, from: From): Promise<void> {
    const { surface } = this.#parts;
    const session = this.#stranger();
    const origin: Origin = {
      ...this.#identity(from, session),
      era2026: true,
      capabilities: reply.capabilities,
      uplink: UNASKABLE,
    };
    await surface.prepare?.(origin);
    this.#parts.onEnded(session);
    reply.complete(
      toRaw({
        supportedVersions: [ERA_2026_VERSION],
        capabilities: era2026Capabilities(surface.capabilities),
        instructions: surface.instructions(origin),
        ttlMs: DISCOVER_TTL_MS,
        cacheScope: "private",
      }),
    );
  }
}

/** Tasks are an extension in this era. */
function era2026Capabilities({ tasks, ...others }: Surface["capabilities"]): object {
  return tasks ? { ...others, extensions: { [TASKS]: {} } } : others;
}

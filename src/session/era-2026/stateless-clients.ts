/**
 * Serves clients of the stateless era (2026-07-28). Each request carries its version and capabilities. There
 * is no session, no handshake and no request to the client. Between two requests only parked calls are kept.
 */
import { randomBytes } from "node:crypto";
import type { Origin } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { PassingSet } from "../../kernel/passing.ts";
import { type Principal, shareOf } from "../../kernel/principal.ts";
import { type Raw, scalarOf, toRaw } from "../../kernel/raw.ts";
import { type IdSource, REQUEST_STATES, ReplicaIds } from "../../kernel/replica-ids.ts";
import { isOfLaterVersion } from "../../kernel/seal.ts";
import { traceHeadersIn } from "../../kernel/traceparent.ts";
import { ERA_2026_VERSION, mayAsk, TASKS, UNSUPPORTED_VERSION } from "../../rpc/era-2026/names.ts";
import type { Message } from "../../rpc/message.ts";
import { NO_UPLINK } from "../../rpc/no-uplink.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { members } from "../../rpc/slice.ts";
import { withExtensions } from "../../surface/capabilities.ts";
import type { Surface } from "../../surface/surface.ts";
import { refuseLongNames } from "../long-names.ts";
import { Parked } from "../parked.ts";
import { bareParams, type Envelope, type Retry, readEnvelope, readRetry } from "./envelope.ts";
import { checkParamHeaders, checkRequestHeaders, checkVersionHeader, type Headers } from "./headers.ts";
import { PendingReply } from "./pending-reply.ts";
import { codeOf } from "./stamp.ts";
import { bindingOf, callerKey } from "./state.ts";
import { type ClientIdentity, StatelessCall } from "./stateless-call.ts";
import type { RequestSource, ServedRequest, StatelessHost } from "./stateless-host.ts";
import { Subscription } from "./subscription.ts";

type Request = Message & { kind: "request" };

export interface StatelessClientsParts {
  /** Id of the endpoint that receives the requests. */
  readonly endpoint: string;
  readonly surface: Surface;
  readonly clock: Clock;
  /** Makes the `requestState` that names a parked call. Default: states that no other process can open. */
  readonly ids?: IdSource | undefined;
  /** Called with the session id of a request or connection that has ended. */
  onEnded(session: string): void;
}

/** Time for a client to answer questions. It equals the longest pause of a call that waits for a person. */
const PARKED_MS = 600_000;
const MAX_PARKED = 256;
const DISCOVER_TTL_MS = 60_000;
/** Open subscriptions of one principal, and of all together. */
const MAX_SUBSCRIPTIONS = { own: 1_000, all: 10_000 };

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
  "resources/directory/read",
  "skills/list",
  "skills/get",
  "completion/complete",
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
]);

const NO_RETRY: Retry = { state: undefined, answers: new Map() };
const ALREADY_ANSWERED: ServedRequest = { cancel() {} };

export class StatelessClients implements StatelessHost {
  readonly #parts: StatelessClientsParts;
  readonly #states: ReplicaIds;
  readonly #parked: Parked<StatelessCall>;
  readonly #calls = new PassingSet<StatelessCall>();
  readonly #subscriptions = new Set<Subscription>();
  #sessions = 0;
  #refusing = false;

  constructor(parts: StatelessClientsParts) {
    this.#parts = parts;
    this.#states = new ReplicaIds(parts.ids ?? { secret: randomBytes(32) }, REQUEST_STATES);
    this.#parked = new Parked(parts.clock, { most: MAX_PARKED, lifetimeMs: PARKED_MS });
  }

  /** Number of calls whose clients wait for an answer. */
  get serving(): number {
    return this.#calls.size - this.#parked.size;
  }

  get parked(): number {
    return this.#parked.size;
  }

  /** Refuses all further requests, cancels parked calls and ends subscriptions. */
  refuse(): void {
    this.#refusing = true;
    this.#parked.clear("MetaMCP is stopping");
    for (const subscription of this.#subscriptions) subscription.end();
  }

  /** Called when the catalog changed. Returns how many clients were notified. */
  tellChanges(): number {
    return [...this.#subscriptions].filter((subscription) => subscription.tellChanges()).length;
  }

  /** Called when the config changed, for one account or for all. */
  loadMissingLists(account?: string): void {
    for (const subscription of this.#subscriptions) subscription.loadMissingLists(account);
  }

  endOf(whose: (principal: Principal) => boolean, reason: string): void {
    const isMeant = ({ origin }: StatelessCall): boolean => whose(origin.principal);
    this.#parked.clear(reason, isMeant);
    for (const call of this.#calls) if (isMeant(call)) call.giveUp(reason);
  }

  left(session: string): void {
    this.#parts.onEnded(session);
  }

  serve(request: Request, from: RequestSource): ServedRequest {
    let envelope: Envelope;
    try {
      envelope = this.#admit(request, from);
    } catch (error) {
      const { raw } = error as RpcError;
      from.send({ kind: "error", id: request.id, error: raw }, codeOf(raw) === METHOD_NOT_FOUND ? 404 : 400);
      return ALREADY_ANSWERED;
    }
    if (this.#refusing) {
      const { raw } = RpcError.of(INTERNAL_ERROR, "MetaMCP is stopping");
      from.send({ kind: "error", id: request.id, error: raw }, 503);
      return ALREADY_ANSWERED;
    }
    const reply = new PendingReply(request, envelope, from.send);
    try {
      if (request.method === "server/discover") void this.#discover(reply, from);
      else if (request.method === "subscriptions/listen") return this.#listen(request, reply, from);
      else return this.#call(request, envelope, reply, from);
    } catch (error) {
      reply.fail(error);
    }
    return ALREADY_ANSWERED;
  }

  /**
   * Throws RpcError for an invalid envelope, an unsupported version, an unknown method, or headers that
   * contradict the body.
   */
  #admit({ method, params }: Request, { headers, principal }: RequestSource): Envelope {
    const envelope = readEnvelope(params);
    refuseLongNames(params);
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
    const name = scalarOf(raw);
    const definition = typeof name === "string" ? surface.tool?.(name, asker) : undefined;
    if (definition) checkParamHeaders(headers, definition, params);
  }

  #call(
    { method, params }: Request,
    envelope: Envelope,
    reply: PendingReply,
    from: RequestSource,
  ): ServedRequest {
    const { state, answers } = mayAsk(method) ? readRetry(params as Raw) : NO_RETRY;
    const bare = bareParams(params as Raw, mayAsk(method));
    const parked = state === undefined ? undefined : this.#unpark(state, this.#bindingOf(from, method, bare));
    if (parked) parked.attach(reply, answers);
    const call = parked ?? this.#begin(bare, envelope, reply, { from, answers });
    return { cancel: (reason) => call.cancel(reply, reason) };
  }

  #begin(
    params: Raw,
    { capabilities, logLevel, client: about }: Envelope,
    reply: PendingReply,
    { from, answers }: { from: RequestSource; answers: ReadonlyMap<string, Raw> },
  ): StatelessCall {
    const { id, method } = reply;
    const session = from.session ?? this.#newSessionId();
    const call: StatelessCall = new StatelessCall({
      client: this.#identity(from, session),
      capabilities,
      about,
      method,
      park: (parked) => this.#park(parked, this.#bindingOf(from, method, params)),
      onEnd: (ended) => {
        this.#calls.delete(ended);
        if (from.session === undefined) this.#parts.onEnded(session);
      },
    });
    this.#calls.add(call);
    const { origin, signal, uplink } = call;
    call.start(reply, answers, async () => {
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
    return call;
  }

  #identity(from: RequestSource, session: string): ClientIdentity {
    const { principal } = from;
    const { endpoint } = this.#parts;
    if (from.session !== undefined) return { endpoint, principal, session };
    const unlisted = from.unlisted === true || principal.kind === "anonymous";
    return { endpoint, principal, session, sessionless: true, unlisted };
  }

  #bindingOf({ principal, session }: RequestSource, method: string, bare: Raw): string {
    return bindingOf(callerKey(this.#parts.endpoint, principal, session), method, bare);
  }

  #park(call: StatelessCall, binding: string): string {
    const id = randomBytes(16).toString("base64url");
    this.#parked.park(id, call, shareOf(call.origin.principal));
    return this.#states.make(id, binding);
  }

  /**
   * Throws RpcError and leaves the parked call as it is, unless the state is valid for this caller and
   * request.
   */
  #unpark(state: string, binding: string): StatelessCall {
    const named = this.#states.open(state, binding);
    if (!named)
      throw RpcError.of(
        INVALID_PARAMS,
        isOfLaterVersion(state)
          ? "This requestState is of another version of the gateway: try again, or make the call again without it"
          : "This requestState belongs to another request: repeat the request without it",
      );
    if (named.elsewhere !== undefined)
      throw RpcError.of(
        INVALID_PARAMS,
        this.#parts.ids?.peers?.isGone(named.elsewhere)
          ? "The replica of the gateway that held this call is gone, and the call with it: make it again without requestState. What it did before its question may have had effects"
          : `The call of this requestState waits at replica ${named.elsewhere} of the gateway, which cannot be reached from here: try again`,
      );
    const call = this.#parked.take(named.name);
    if (call) return call;
    throw RpcError.of(
      INVALID_PARAMS,
      "This requestState was already used or has expired: repeat the request without it",
    );
  }

  #listen({ params }: Request, reply: PendingReply, { principal, send }: RequestSource): ServedRequest {
    if (this.#tooManySubscriptions(shareOf(principal))) {
      reply.fail(RpcError.of(INTERNAL_ERROR, "too many subscriptions are open"));
      return ALREADY_ANSWERED;
    }
    const session = this.#newSessionId();
    const subscription = new Subscription(reply, params as Raw, {
      client: this.#identity({ principal, send }, session),
      surface: this.#parts.surface,
      onEnd: (ended) => {
        this.#subscriptions.delete(ended);
        this.#parts.onEnded(session);
      },
    });
    this.#subscriptions.add(subscription);
    return subscription;
  }

  #tooManySubscriptions(share: string): boolean {
    const { own, all } = MAX_SUBSCRIPTIONS;
    if (this.#subscriptions.size < own) return false;
    if (this.#subscriptions.size >= all) return true;
    const owned = [...this.#subscriptions].filter((one) => shareOf(one.principal) === share);
    return owned.length >= own;
  }

  #newSessionId(): string {
    this.#sessions += 1;
    const { replica } = this.#parts.ids ?? {};
    return replica === undefined ? `stateless-${this.#sessions}` : `stateless-${replica}-${this.#sessions}`;
  }

  async #discover(reply: PendingReply, from: RequestSource): Promise<void> {
    const { surface } = this.#parts;
    const session = this.#newSessionId();
    const origin: Origin = {
      ...this.#identity(from, session),
      era2026: true,
      capabilities: reply.capabilities,
      uplink: NO_UPLINK,
    };
    await surface.prepare?.(origin);
    this.#parts.onEnded(session);
    reply.complete(
      toRaw({
        supportedVersions: [ERA_2026_VERSION],
        capabilities: era2026Capabilities(surface, origin),
        instructions: surface.instructions(origin),
        ttlMs: DISCOVER_TTL_MS,
        cacheScope: "private",
      }),
    );
  }
}

/** Tasks are an extension in this era. */
function era2026Capabilities(surface: Surface, origin: Origin): object {
  const { tasks, ...others } = surface.capabilities;
  const extensions = { ...surface.extensions?.(origin), ...(tasks ? { [TASKS]: {} } : {}) };
  return withExtensions(others, extensions);
}

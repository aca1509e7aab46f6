/** Authenticates and routes the HTTP requests of a gateway. Works from memory: no request reads the store. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Access } from "../../access/access.ts";
import { isAllowed } from "../../access/allow.ts";
import type { AddressOf } from "../../access/client-address.ts";
import { credentialOf } from "../../access/credential.ts";
import { MAX_OPEN_BYTES, watchOpenBody } from "../../access/open-body.ts";
import { credentialKind, type RefusedCredentials } from "../../access/refused-credentials.ts";
import type { TemporaryKeys } from "../../access/temporary-keys.ts";
import { networkOf } from "../../access/throttle.ts";
import { adminPath } from "../../admin/admin.ts";
import { Problem, writeProblem } from "../../admin/problem.ts";
import type { Judged, TokenHolder } from "../../authorization/bearers.ts";
import {
  audienceOf,
  challenge,
  metadataPath,
  resourceMetadata,
  SCOPE,
  type TokenFault,
} from "../../authorization/resource.ts";
import type { Compiled, CompiledEndpoint } from "../../gateway/compile.ts";
import { perObject } from "../../kernel/per-object.ts";
import { ANONYMOUS, strangerFrom } from "../../kernel/principal.ts";
import { METRICS_TYPE } from "../../observe/metrics/metrics.ts";
import type { LoginSite } from "../../server-logins/accounts/login-site.ts";
import { forwardedOf } from "../../transport/http/forwarded.ts";
import { bearerOf, type HostGuard, type Refused, refused, type Verdict } from "../../transport/http/guard.ts";
import { fail, type Received, refuse, type Site } from "../../transport/http/http-server.ts";
import type { Readiness } from "../../transport/transport.ts";
import type { InStep } from "../live/in-step.ts";
import type { GatewayAuthorization } from "../logins/authorization.ts";
import type { BackChannelLogout } from "./back-channel-logout.ts";
import type { ConsoleFiles } from "./console-files.ts";
import { RegistrySite } from "./registry-site.ts";
import type { ServedEndpoints } from "./served-endpoints.ts";

export interface SiteParts {
  readonly compiled: () => Compiled;
  readonly endpoints: ServedEndpoints;
  readonly access: Pick<Access, "keys">;
  readonly refused: RefusedCredentials;
  readonly authorization: GatewayAuthorization;
  /** Where the identity provider ends logins, if there is one. */
  readonly backChannel: BackChannelLogout | undefined;
  /** The pages for logins at servers. */
  readonly logins: LoginSite;
  /** Temporary credentials for self-tests. */
  readonly temporaryKeys: TemporaryKeys;
  readonly hostGuard: HostGuard;
  readonly addressOf: AddressOf;
  /** Set if other gateways change the same store. */
  readonly inStep: Pick<InStep, "catchUp"> | undefined;
  readonly readiness: () => Readiness;
  /** The handler for `/api/v1`. It authenticates requests itself. */
  readonly admin: (path: string, request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Undefined if the console is disabled. */
  readonly console: ConsoleFiles | undefined;
  /** Set if `/metrics` needs no login; otherwise only administrators get metrics. */
  readonly metrics: (() => string) | undefined;
}

/**
 * The replica that got the request from its client has checked Host and Origin, and sends the CORS headers.
 */
const BY_REPLICA = { ok: true, cors: undefined } as const;
const ENDPOINTS = "/metamcp/";
const METRICS = "/metrics";
const NOTHING = "not found";
const NEEDS_KEY = "an API key is required: send it as X-API-Key or Authorization: Bearer";
const TOO_MANY = "too many wrong credentials from your network: check the key, and try again later";
/** A JWT, which is what access tokens are. */
const ACCESS_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const TOO_LARGE = `a request without a login may have at most ${MAX_OPEN_BYTES} bytes`;
const NEEDS_SCOPE = `the token lacks the scope "${SCOPE}"`;

/** The requested endpoint and path below it, and the origin for CORS headers. */
interface EndpointRequest {
  readonly name: string;
  readonly subpath: string;
  readonly cors: string | undefined;
}

/** `wrong`: the request shows a credential that is not valid. */
type Judgement = Verdict & { readonly wrong?: boolean };

interface Judging {
  readonly judged: Judgement | Promise<Judgement>;
  readonly judge: () => Judgement | Promise<Judgement>;
  readonly inStep: Pick<InStep, "catchUp">;
}

/** Most requests are judged at once, without a promise. */
function then<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

export class GatewaySite implements Site {
  readonly #parts: SiteParts;
  readonly #registry: RegistrySite;

  constructor(parts: SiteParts) {
    this.#parts = parts;
    const { compiled, refused, inStep, authorization } = parts;
    this.#registry = new RegistrySite({
      compiled,
      refused,
      inStep,
      base: authorization.base,
      judge: (request, endpoint) =>
        this.#byCredential(request, endpoint, {
          name: endpoint.object.name,
          subpath: "mcp",
          cors: undefined,
        }),
    });
  }

  /**
   * Without valid credentials, all names of endpoints that are not public get the same 401. With them, all
   * endpoints that the caller may not use get the same 404.
   */
  guard(path: string, request: IncomingMessage): Verdict | Promise<Verdict> {
    const { hostGuard, compiled } = this.#parts;
    if (this.#registry.answers(path)) return this.#forRegistry(request);
    const { name, subpath } = endpointIn(path);
    const endpoint = name === undefined ? undefined : compiled().paths.get(name);
    const access = endpoint?.object.spec.access;
    // Uses the origins of all endpoints: strangers must not learn which endpoint allows an origin.
    const entered = forwardedOf(request)
      ? BY_REPLICA
      : hostGuard(request, access?.public ? access.origins : originsOf(compiled().paths));
    if (!entered.ok) return entered;
    const { cors } = entered;
    // Other paths are public or authenticate requests themselves.
    if (name === undefined) return { ok: true, cors, principal: ANONYMOUS };
    if (access?.public) return this.#byStranger(request, entered);
    const verdict = this.#judged(request, { name, subpath, cors });
    if (request.headers.origin === undefined) return verdict;
    const fromHere = (judged: Verdict): Verdict => {
      const origins = compiled().paths.get(name)?.object.spec.access.origins;
      const here = judged.ok ? hostGuard(request, origins) : judged;
      return here.ok ? judged : here;
    };
    return verdict instanceof Promise ? verdict.then(fromHere) : fromHere(verdict);
  }

  /** Pages of any origin may read it: it sends no cookies, and a page has no credential but its own. */
  #forRegistry(request: IncomingMessage): Verdict {
    const { origin: _, ...headers } = request.headers;
    const entered = forwardedOf(request)
      ? BY_REPLICA
      : this.#parts.hostGuard({ headers, socket: request.socket });
    return entered.ok ? { ok: true, cors: "*", principal: ANONYMOUS } : entered;
  }

  #byStranger(request: IncomingMessage, { cors }: Pick<EndpointRequest, "cors">): Judgement {
    const { addressOf } = this.#parts;
    return { ok: true, cors, principal: strangerFrom(networkOf(addressOf(request))) };
  }

  /**
   * Counts a wrong credential. With other gateways on the store it first looks whether the key or the
   * endpoint was made there a moment ago.
   */
  #judged(request: IncomingMessage, requested: EndpointRequest): Verdict | Promise<Verdict> {
    const { compiled, inStep } = this.#parts;
    const judge = (): Judgement | Promise<Judgement> => {
      const endpoint = compiled().paths.get(requested.name);
      return endpoint?.object.spec.access.public
        ? this.#byStranger(request, requested)
        : this.#byCredential(request, endpoint, requested);
    };
    const judged = judge();
    if (!(judged instanceof Promise) && judged.ok) return judged;
    if (!inStep) return then(judged, (verdict) => this.#counted(request, requested, verdict));
    return this.#judgedInStep(request, requested, { judged, judge, inStep });
  }

  async #judgedInStep(
    request: IncomingMessage,
    requested: EndpointRequest,
    { judged, judge, inStep }: Judging,
  ): Promise<Verdict> {
    const first = await judged;
    if (first.ok || (first.status !== 401 && first.status !== 404)) return first;
    await inStep.catchUp();
    return await this.#counted(request, requested, await judge());
  }

  #counted(
    request: IncomingMessage,
    requested: EndpointRequest,
    verdict: Judgement,
  ): Verdict | Promise<Verdict> {
    if (verdict.ok || !verdict.wrong) return verdict;
    const { compiled, refused: counter } = this.#parts;
    const endpoint = compiled().paths.get(requested.name)?.object.name;
    const credential = { by: credentialKind(request), endpoint };
    // A key in the URL of an unknown endpoint is ignored, so it may not be limited at a known one either.
    const limited = credentialOf(request) !== undefined && !ACCESS_TOKEN.test(bearerOf(request.headers));
    const retryAfter = limited ? counter.limitAtAll(request, credential) : counter.count(request, credential);
    return then(retryAfter, (seconds) =>
      seconds === undefined ? verdict : { ...refused(429, TOO_MANY, requested.cors), retryAfter: seconds },
    );
  }

  #byCredential(
    request: IncomingMessage,
    endpoint: CompiledEndpoint | undefined,
    requested: EndpointRequest,
  ): Judgement | Promise<Judgement> {
    const { access: known, temporaryKeys, authorization, endpoints } = this.#parts;
    const { cors, subpath } = requested;
    const access = endpoint?.object.spec.access;
    if (endpoint && access?.queryKey && subpath === "message" && credentialOf(request, true) === undefined) {
      const sender = endpoints.of(endpoint.object.uuid)?.senderOf(request);
      if (sender) return { ok: true, cors, principal: sender };
    }
    const given = credentialOf(request, access?.queryKey);
    const shown = given ?? "";
    const temporary = temporaryKeys.holderOf(shown);
    if (temporary && endpoint && temporary.opens(endpoint.object.uuid))
      return { ok: true, cors, principal: temporary.principal };
    const holder = known.keys.holderOf(shown);
    if (!holder && shown !== "" && shown === bearerOf(request.headers)) {
      const bearer = authorization.bearers.holderOf(shown, {
        audience: audienceOf(authorization.base(), requested.name),
        open: access?.oauth === true,
      });
      const judge = (found: Judged): Judgement =>
        found === "invalid_token" ? this.#wrong(requested, found) : this.#byToken(found, requested);
      return bearer instanceof Promise ? bearer.then(judge) : judge(bearer);
    }
    // Keys with a role are valid only for the admin API.
    if (!holder || holder.role)
      return given === undefined ? this.#unknown(requested) : this.#wrong(requested);
    const { account } = holder;
    const opens = endpoint && access?.keys && holder.opens(endpoint.object.uuid);
    const allowed = opens && (!account || isAllowed(account, access.allow));
    if (allowed) return { ok: true, cors, principal: holder.principal };
    // For an unknown endpoint a key in the URL is ignored, so the answer must be the same here.
    return credentialOf(request) === undefined ? this.#unknown(requested) : refused(404, NOTHING, cors);
  }

  /** A token does not reveal whether an endpoint exists, unless the caller may use it. */
  #byToken(
    holder: TokenHolder | "insufficient_scope" | "no_endpoint",
    requested: EndpointRequest,
  ): Judgement {
    const { compiled, authorization } = this.#parts;
    const { name, cors } = requested;
    if (holder === "insufficient_scope")
      return refused(403, NEEDS_SCOPE, cors, this.#challenge(requested, holder));
    if (holder === "no_endpoint") return refused(404, NOTHING, cors);
    if (holder.endpoint !== undefined && holder.endpoint !== authorization.endpointId(name))
      return this.#wrong(requested, "invalid_token");
    const access = compiled().paths.get(name)?.object.spec.access;
    const { account } = holder;
    const allowed = access?.oauth && (!account || isAllowed(account, access.allow));
    return allowed ? { ok: true, cors, principal: holder.principal } : refused(404, NOTHING, cors);
  }

  #wrong(requested: EndpointRequest, fault?: TokenFault): Judgement {
    return { ...this.#unknown(requested, fault), wrong: true };
  }

  #unknown(requested: EndpointRequest, fault?: TokenFault): Refused {
    return refused(401, NEEDS_KEY, requested.cors, this.#challenge(requested, fault));
  }

  #challenge({ name, subpath }: EndpointRequest, fault?: TokenFault): string | undefined {
    const { base, allowsOAuth } = this.#parts.authorization;
    return allowsOAuth(name) ? challenge(base(), name, subpath, fault) : undefined;
  }

  /** Paths of the admin API and of the OpenAPI view get the refusal as problem+json. */
  refuse(
    path: string,
    response: ServerResponse,
    { status, reason, challenge: said }: Pick<Refused, "status" | "reason" | "challenge">,
  ): boolean {
    if (!endpointIn(path).subpath.startsWith("api/") && adminPath(path) === undefined) return false;
    const told = said ?? (status === 401 ? 'Bearer realm="metamcp"' : undefined);
    const headers: Record<string, string> = told === undefined ? {} : { "www-authenticate": told };
    writeProblem(response, new Problem(status, reason, { headers }));
    return true;
  }

  readiness(): Readiness {
    return this.#parts.readiness();
  }

  route(path: string, received: Received): boolean {
    const { metrics } = this.#parts;
    if (path === METRICS && metrics && received.request.method === "GET") {
      received.response.writeHead(200, { "content-type": METRICS_TYPE }).end(metrics());
      return true;
    }
    if (this.#registry.answers(path)) {
      this.#registry.answer(path, received);
      return true;
    }
    const api = adminPath(path);
    if (api !== undefined) {
      void this.#parts.admin(api, received.request, received.response);
      return true;
    }
    const { logins, authorization, addressOf, backChannel } = this.#parts;
    const { server } = authorization;
    const { request, response } = received;
    const { name, subpath } = endpointIn(path);
    if (name === undefined) {
      if (this.#sendMetadata(path, received)) return true;
      const site = [backChannel, logins, server].find((one) => one?.answers(path));
      if (!site) return this.#sendConsole(path, received);
      // These pages and the OAuth paths read forms and registrations of people who are not logged in yet.
      if (!watchOpenBody(request, addressOf(request))) refuse(response, 413, TOO_LARGE);
      else void site.answer(path, request, response);
      return true;
    }
    const endpoint = this.#parts.compiled().paths.get(name);
    return endpoint !== undefined && this.#parts.endpoints.route(endpoint.object.uuid, subpath, received);
  }

  #sendConsole(path: string, { request, response }: Received): boolean {
    const { console } = this.#parts;
    if (!console?.has(path, request)) return false;
    console.answer(path, request, response).catch(() => fail(response));
    return true;
  }

  /** Protected resource metadata (RFC 9728), for every name except endpoints with `oauth: false`. */
  #sendMetadata(path: string, { request, response }: Received): boolean {
    const { base, allowsOAuth, issuers } = this.#parts.authorization;
    const asked = request.method === "GET" ? metadataPath(path) : undefined;
    if (!asked || !allowsOAuth(asked.endpoint)) return false;
    const body = JSON.stringify(resourceMetadata(base(), asked, issuers()));
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" }).end(body);
    return true;
  }
}

/**
 * Paths with `/.well-known/` below an endpoint do not belong to it: clients look there for metadata of the
 * authorization server.
 */
function endpointIn(path: string): { readonly name: string | undefined; readonly subpath: string } {
  const end = path.startsWith(ENDPOINTS) ? path.indexOf("/", ENDPOINTS.length) : -1;
  const subpath = end < 0 ? "" : path.slice(end + 1);
  const named = end > ENDPOINTS.length && subpath !== "" && !subpath.includes("/.well-known/");
  return { name: named ? path.slice(ENDPOINTS.length, end) : undefined, subpath };
}

/** The origins of all endpoints: a page that may use one of them must be able to log in. */
const originsOf = perObject((paths: Compiled["paths"]): readonly string[] =>
  [...paths.values()].flatMap(({ object }) => object.spec.access.origins ?? []),
);

/** What is to be had at the addresses of a gateway, and by whom. Decides from memory: no request asks the store. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Access } from "../access/access.ts";
import { isAllowed } from "../access/allow.ts";
import { credentialOf } from "../access/credential.ts";
import type { Passes } from "../access/passes.ts";
import { adminPath } from "../admin/admin.ts";
import { Problem, writeProblem } from "../admin/problem.ts";
import type { TokenHolder } from "../authorization/bearers.ts";
import {
  audienceOf,
  challenge,
  metadataPath,
  resourceMetadata,
  SCOPE,
  type TokenFault,
} from "../authorization/resource.ts";
import type { Compiled, CompiledEndpoint } from "../gateway/compile.ts";
import { ANONYMOUS } from "../kernel/principal.ts";
import type { LoginSite } from "../logins/login-site.ts";
import { METRICS_TYPE } from "../observe/metrics/metrics.ts";
import { bearerOf, type HostGuard, type Refused, refused, type Verdict } from "../transport/http/guard.ts";
import { fail, type Received, type Site } from "../transport/http/http-server.ts";
import type { Readiness } from "../transport/transport.ts";
import type { GatewayAuthorization } from "./authorization.ts";
import type { ConsoleFiles } from "./console-files.ts";
import type { ServedEndpoints } from "./served-endpoints.ts";

export interface SiteParts {
  readonly compiled: () => Compiled;
  readonly endpoints: ServedEndpoints;
  readonly access: Pick<Access, "keys">;
  readonly authorization: GatewayAuthorization;
  /** Pages on which people log in at servers. */
  readonly logins: LoginSite;
  /** Opens endpoints for what we try out ourselves. */
  readonly passes: Passes;
  readonly hostGuard: HostGuard;
  readonly readiness: () => Readiness;
  /** Answers what is below `/api/v1`, and authenticates by itself. */
  readonly admin: (path: string, request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Undefined: there are no pages for people here. */
  readonly console: ConsoleFiles | undefined;
  /** Where everybody who reaches it may see them; else they are an administrator's. */
  readonly metrics: (() => string) | undefined;
}

const ENDPOINTS = "/metamcp/";
const METRICS = "/metrics";
const NOTHING = "not found";
const NEEDS_KEY = "an API key is required: send it as X-API-Key or Authorization: Bearer";
const NEEDS_SCOPE = `the token lacks the scope "${SCOPE}"`;

/** What somebody asked for, and what a page of theirs may read of the answer. */
interface Wanted {
  readonly name: string;
  readonly way: string;
  readonly cors: string | undefined;
}

export class GatewaySite implements Site {
  readonly #parts: SiteParts;

  constructor(parts: SiteParts) {
    this.#parts = parts;
  }

  /** Without valid credentials all names that are not public are alike; with them all that the caller may not use are. */
  guard(path: string, request: IncomingMessage): Verdict | Promise<Verdict> {
    const { hostGuard, compiled } = this.#parts;
    const { name, way } = endpointIn(path);
    const endpoint = name === undefined ? undefined : compiled().paths.get(name);
    const access = endpoint?.object.spec.access;
    const { headers } = request;
    // Which endpoint lists an origin is no business of strangers.
    const entered = hostGuard(headers, access?.public ? access.origins : originsOf(compiled()));
    if (!entered.ok) return entered;
    const { cors } = entered;
    // What is not an endpoint is open to all, or knows by itself who may enter.
    if (name === undefined || access?.public) return { ok: true, cors, principal: ANONYMOUS };
    const verdict = this.#byCredential(request, endpoint, { name, way, cors });
    if (headers.origin === undefined) return verdict;
    const fromHere = (judged: Verdict): Verdict => {
      const here = judged.ok ? hostGuard(headers, access?.origins) : judged;
      return here.ok ? judged : here;
    };
    return verdict instanceof Promise ? verdict.then(fromHere) : fromHere(verdict);
  }

  #byCredential(
    request: IncomingMessage,
    endpoint: CompiledEndpoint | undefined,
    wanted: Wanted,
  ): Verdict | Promise<Verdict> {
    const { access: known, passes, authorization } = this.#parts;
    const { cors } = wanted;
    const access = endpoint?.object.spec.access;
    const shown = credentialOf(request, access?.queryKey) ?? "";
    const pass = passes.holderOf(shown);
    if (pass && endpoint && pass.opens(endpoint.object.uuid))
      return { ok: true, cors, principal: pass.principal };
    const holder = known.keys.holderOf(shown);
    if (!holder && shown !== "" && shown === bearerOf(request.headers)) {
      const bearer = authorization.bearers.holderOf(shown);
      const judge = (found: TokenHolder | undefined): Verdict => this.#byToken(found, wanted);
      return bearer instanceof Promise ? bearer.then(judge) : judge(bearer);
    }
    // One with a role is for the admin API alone.
    if (!holder || holder.role) return this.#unknown(wanted);
    const { account } = holder;
    const opens = endpoint && access?.keys && holder.opens(endpoint.object.uuid);
    const allowed = opens && (!account || isAllowed(account, access.allow));
    if (allowed) return { ok: true, cors, principal: holder.principal };
    // At a name that is not there a key in the address does not count: here it must not either.
    return credentialOf(request) === undefined ? this.#unknown(wanted) : refused(404, NOTHING, cors);
  }

  /** Nobody learns by a token whether an endpoint is there, unless it is one that they may use. */
  #byToken(holder: TokenHolder | undefined, wanted: Wanted): Verdict {
    const { compiled, authorization } = this.#parts;
    const { name, cors } = wanted;
    if (!holder?.audience.includes(audienceOf(authorization.base(), name)))
      return this.#unknown(wanted, "invalid_token");
    if (!holder.scopes.includes(SCOPE))
      return refused(403, NEEDS_SCOPE, cors, this.#challenge(wanted, "insufficient_scope"));
    const access = compiled().paths.get(name)?.object.spec.access;
    const allowed = access?.oauth && isAllowed(holder.account, access.allow);
    return allowed ? { ok: true, cors, principal: holder.principal } : refused(404, NOTHING, cors);
  }

  #unknown(wanted: Wanted, fault?: TokenFault): Refused {
    return refused(401, NEEDS_KEY, wanted.cors, this.#challenge(wanted, fault));
  }

  #challenge({ name, way }: Wanted, fault?: TokenFault): string | undefined {
    const { base, isOffered } = this.#parts.authorization;
    return isOffered(name) ? challenge(base(), name, way, fault) : undefined;
  }

  /** Who asks for a tool over plain HTTP hears it in the form of such an answer. */
  refuse(
    path: string,
    response: ServerResponse,
    { status, reason, challenge: said }: Pick<Refused, "status" | "reason" | "challenge">,
  ): boolean {
    if (!endpointIn(path).way.startsWith("api/")) return false;
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
    const api = adminPath(path);
    if (api !== undefined) {
      void this.#parts.admin(api, received.request, received.response);
      return true;
    }
    const { logins, authorization } = this.#parts;
    const { server } = authorization;
    const { name, way } = endpointIn(path);
    if (name === undefined) {
      if (this.#tellMetadata(path, received)) return true;
      if (logins.answers(path)) {
        void logins.answer(path, received.request, received.response);
        return true;
      }
      if (!server.answers(path)) return this.#showConsole(path, received);
      void server.answer(path, received.request, received.response);
      return true;
    }
    const endpoint = this.#parts.compiled().paths.get(name);
    return endpoint !== undefined && this.#parts.endpoints.route(endpoint.object.uuid, way, received);
  }

  #showConsole(path: string, { request, response }: Received): boolean {
    const { console } = this.#parts;
    if (!console?.has(path, request)) return false;
    console.answer(path, request, response).catch(() => fail(response));
    return true;
  }

  /** RFC 9728, for every name but those that an administrator took out. */
  #tellMetadata(path: string, { request, response }: Received): boolean {
    const { base, isOffered, issuers } = this.#parts.authorization;
    const asked = request.method === "GET" ? metadataPath(path) : undefined;
    if (!asked || !isOffered(asked.endpoint)) return false;
    const body = JSON.stringify(resourceMetadata(base(), asked, issuers()));
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" }).end(body);
    return true;
  }
}

/** Metadata of the authorization server may be asked for below the address of an endpoint: that is none. */
function endpointIn(path: string): { readonly name: string | undefined; readonly way: string } {
  const end = path.startsWith(ENDPOINTS) ? path.indexOf("/", ENDPOINTS.length) : -1;
  const way = end < 0 ? "" : path.slice(end + 1);
  const named = end > ENDPOINTS.length && way !== "" && !way.includes("/.well-known/");
  return { name: named ? path.slice(ENDPOINTS.length, end) : undefined, way };
}

const ORIGINS = new WeakMap<Compiled["paths"], readonly string[]>();

/** A page that may use some endpoint must be able to log in for it. */
function originsOf({ paths }: Compiled): readonly string[] {
  const known = ORIGINS.get(paths);
  if (known) return known;
  const all = [...paths.values()].flatMap(({ object }) => object.spec.access.origins ?? []);
  ORIGINS.set(paths, all);
  return all;
}

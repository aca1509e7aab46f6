/**
 * Finds the route of a request, checks the caller, runs the route and writes the response. Does not know what
 * the routes do.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { addRoute, createRouter, findRoute } from "rou3";
import type { Account } from "../access/account.ts";
import type { AddressOf } from "../access/client-address.ts";
import { credentialOf } from "../access/credential.ts";
import { has, may } from "../access/may.ts";
import { MAX_OPEN_BYTES, watchOpenBody } from "../access/open-body.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { EVENT_STREAM } from "../kernel/event-stream-headers.ts";
import type { AdminChange, Events } from "../kernel/events.ts";
import { isRecord } from "../kernel/is-record.ts";
import type { Log } from "../kernel/log.ts";
import { ANONYMOUS, type Principal } from "../kernel/principal.ts";
import { CallSignal, type Signal } from "../kernel/signal.ts";
import { requestIdIn } from "../kernel/traceparent.ts";
import type { PassedRequest, ReplicaControl } from "../observe/live/replica-view.ts";
import { AtReplica } from "./at-replica.ts";
import type { Authenticate } from "./authenticate.ts";
import { JSON_TYPES, readBody } from "./body.ts";
import { checkedBody } from "./checked-body.ts";
import { type InStepControl, inStepWith } from "./in-step-control.ts";
import type { DescribeObject } from "./named-object.ts";
import { Problem, writeProblem } from "./problem.ts";
import { readQuery } from "./query.ts";
import {
  type AdminAnswer,
  type AdminRequest,
  type RecordedChange,
  type Route,
  requiredRole,
  type StreamReader,
} from "./route.ts";
import { writeAnswer } from "./write-answer.ts";

export interface RouterParts {
  readonly routes: readonly Route[];
  readonly log: Log;
  readonly authenticate: Authenticate;
  /** Counts a refused credential. Returns the seconds to wait if there were too many. */
  readonly onRefused?:
    | ((request: IncomingMessage) => number | undefined | Promise<number | undefined>)
    | undefined;
  /** Set if other gateways change the same store. */
  readonly inStep?: InStepControl | undefined;
  /** Whether the request comes from a page of this gateway. */
  isOwnPage(headers: IncomingMessage["headers"]): boolean;
  readonly addressOf: AddressOf;
  /** Gets an event for each change, and for each change that was refused with 403. */
  readonly events?: Pick<Events, "emit"> | undefined;
  /** Describes the object that a path names. */
  readonly objectOf?: DescribeObject;
  /** Other gateways on the store, and requests that they passed on. */
  readonly replicas?: Pick<ReplicaControl, "passOn" | "clientOf"> | undefined;
  /** Maps an error to a problem. Undefined for an unexpected error. */
  problemOf(error: unknown): Problem | undefined;
}

/** Another replica has answered. */
const PASSED: AdminAnswer = {};
/** The header of answers and requests with a mark of what is known. */
const REVISION = "metamcp-revision";

const GONE = new MetaMcpError("cancelled", "the caller is gone");
const METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE"] as const;

export type AdminHandler = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void>;

export function createAdminRouter(parts: RouterParts): AdminHandler {
  const router = createRouter<Route>();
  for (const route of parts.routes) addRoute(router, route.method, route.path, route);

  /** Returns the route and the caller. Throws Problem if the caller may not use the route. */
  async function admit(path: string, request: IncomingMessage): Promise<AdmittedRequest> {
    const found = findRoute(router, request.method ?? "GET", path);
    const open = found !== undefined && requiredRole(found.data) === "anyone";
    const known = parts.authenticate(request) ?? (await authenticateAgain(request));
    // The first check, so that unknown callers cannot find out which paths exist.
    if (!known && !open) throw await refusal(request);
    if (!found) throw notThere(path);
    if (isForged(request, known?.cookie === true, open))
      throw new Problem(403, "a change with a cookie must come from a page of this gateway (Origin)");
    const { data: route, params = {} } = found;
    const { principal = ANONYMOUS, account } = known ?? {};
    const admitted = withObject({
      principal,
      account,
      route,
      params: decoded(params),
      headers: request.headers,
    });
    if (!mayUse(principal, route)) {
      if (route.method !== "GET") emitChanges(admitted, [changeOf(admitted, undefined)], "refused");
      throw new Problem(403, refusalOf(principal, route));
    }
    return admitted;
  }

  /** A key or a cookie may have been made at another gateway a moment ago. */
  async function authenticateAgain(request: IncomingMessage): Promise<ReturnType<Authenticate>> {
    const shows = credentialOf(request) !== undefined || request.headers.cookie !== undefined;
    if (!parts.inStep || !shows) return undefined;
    await parts.inStep.catchUp();
    return parts.authenticate(request);
  }

  async function refusal(request: IncomingMessage): Promise<Problem> {
    const retryAfter = await parts.onRefused?.(request);
    if (retryAfter !== undefined)
      return new Problem(429, "too many wrong credentials from your network: try again later", {
        headers: { "retry-after": String(retryAfter) },
      });
    return new Problem(401, "log in, or send a token or a key with a role as Authorization: Bearer", {
      headers: { "www-authenticate": 'Bearer realm="metamcp"' },
    });
  }

  /** Looks the object up before the route runs, because a deleted object has no name afterwards. */
  function withObject(admitted: Omit<AdmittedRequest, "object">): AdmittedRequest {
    const { route, params } = admitted;
    if (route.method === "GET") return { ...admitted, object: { kind: route.tag } };
    const { uuid } = params;
    return {
      ...admitted,
      object: parts.objectOf?.(route.tag, uuid) ?? { kind: route.tag, ...(uuid !== undefined && { uuid }) },
    };
  }

  async function run(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    signal: Signal,
  ): Promise<AdminAnswer> {
    const first = await admit(path, request);
    const { route } = first;
    const search = new URL(request.url ?? "", "http://localhost").searchParams;
    const query = route.anyQuery ? {} : readQuery(search, route.query ?? {});
    const reads = request.method === "GET";
    const body = reads ? undefined : await bodyOnce(request, first);
    // The body may arrive slowly. A right that the caller lost in this time must count.
    const admitted = reads ? first : await admit(path, request);
    const { principal, account } = admitted;
    let recorded: readonly RecordedChange[] | undefined;
    const changes = isChange(route, search);
    const handle = async (given: AdminRequest): Promise<AdminAnswer> => {
      try {
        return await route.handle(given);
      } catch (error) {
        if (error instanceof AtReplica) return await passOn(error, { request, response, body });
        if (changes && error instanceof Problem && error.status === 403)
          emitChanges(admitted, [changeOf(admitted, undefined)], "refused");
        throw error;
      }
    };
    const answer = await handle({
      principal,
      account,
      address: parts.addressOf(request),
      headers: request.headers,
      params: admitted.params,
      query,
      search,
      body: route.body && !route.checksBody ? await checkedBody(route.body, body ?? {}) : body,
      ifMatch: request.headers["if-match"],
      accept: request.headers.accept ?? "*/*",
      recordChanges(more) {
        recorded = [...(recorded ?? []), ...more];
      },
      signal,
    });
    if (changes && answer !== PASSED)
      emitChanges(admitted, recorded ?? [changeOf(admitted, answer.body)], "ok");
    return answer;
  }

  /** The other replica authenticates the request again, and records it. */
  async function passOn(
    at: AtReplica,
    { request, response, body }: Pick<PassedRequest, "request" | "response"> & { readonly body: unknown },
  ): Promise<AdminAnswer> {
    const hasBody = body !== undefined && request.headers["content-type"] !== undefined;
    const written = hasBody ? Buffer.from(JSON.stringify(body)) : undefined;
    const passed = await parts.replicas?.passOn?.(at.replica, { request, response, body: written });
    if (passed === "answered") return PASSED;
    throw passed === undefined ? at : at[passed];
  }

  /** A request may run twice, and its body can be read once. */
  const bodies = new WeakMap<IncomingMessage, Promise<unknown>>();
  function bodyOnce(request: IncomingMessage, admitted: AdmittedRequest): Promise<unknown> {
    const body = bodies.get(request) ?? bodyOf(request, admitted);
    bodies.set(request, body);
    return body;
  }

  async function runInStep(...given: Parameters<typeof run>): Promise<AdminAnswer> {
    const [, { headers }] = given;
    const isMissing = (error: unknown): boolean => {
      const { status } = (error instanceof Problem ? error : parts.problemOf(error)) ?? {};
      return status === 404 || status === 422;
    };
    return await inStepWith(parts.inStep, headers[REVISION], () => run(...given), isMissing);
  }

  /** Strangers may send only small bodies, and few at a time. */
  async function bodyOf(request: IncomingMessage, { principal, route }: AdmittedRequest): Promise<unknown> {
    const types = route.types ?? JSON_TYPES;
    const { maxBytes } = route;
    if (requiredRole(route) !== "anyone")
      return await readBody(request, { types, sender: principal.id, maxBytes });
    const address = parts.addressOf(request);
    if (!watchOpenBody(request, address))
      throw new Problem(413, `a request without a login may have at most ${MAX_OPEN_BYTES} bytes`);
    return await readBody(request, { types, sender: address, maxBytes: MAX_OPEN_BYTES });
  }

  function emitChanges(
    { principal, headers }: AdmittedRequest,
    changes: readonly RecordedChange[],
    outcome: AdminChange["outcome"],
  ): void {
    const event = { type: "admin", principal, outcome, ...requestIdIn(headers) } as const;
    for (const change of changes) parts.events?.emit({ ...event, at: Date.now(), ...change });
  }

  /**
   * Gives the stream a function that authenticates the caller again, so that the stream ends with the right
   * to read it.
   */
  function stream(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    answer: AdminAnswer,
  ): void {
    const route = findRoute(router, request.method ?? "GET", path)?.data;
    const reader: StreamReader = () => {
      const known = parts.authenticate(request);
      return known && route && mayUse(known.principal, route) ? known.principal : undefined;
    };
    response.writeHead(200, EVENT_STREAM);
    const end = answer.events?.(response, reader) ?? (() => {});
    // If the client has already disconnected, no "close" event follows.
    if (response.destroyed) end();
    else response.once("close", end);
  }

  /**
   * Detects cross-site requests. A login without an Origin header is allowed, because it comes from a shell.
   */
  function isForged(request: IncomingMessage, byCookie: boolean, open: boolean): boolean {
    const { method, headers } = request;
    if (method === "GET" || parts.isOwnPage(headers)) return false;
    // The replica that got it from the browser has checked it.
    if (parts.replicas?.clientOf?.(request) !== undefined) return false;
    return byCookie || (open && headers.origin !== undefined);
  }

  function notThere(path: string): Problem {
    const allow = METHODS.filter((method) => findRoute(router, method, path)).join(", ");
    if (!allow) return new Problem(404, "there is no such path; see /api/v1/openapi.json");
    return new Problem(405, `only ${allow} here`, { headers: { allow } });
  }

  return async function answer(path, request, response) {
    const signal = new CallSignal();
    response.once("close", () => signal.abort(GONE));
    try {
      const done = await runInStep(path, request, response, signal);
      if (done === PASSED) return;
      if (parts.inStep) response.setHeader(REVISION, parts.inStep.mark);
      if (done.events) stream(path, request, response, done);
      else await writeAnswer(request, response, done);
    } catch (error) {
      const problem = error instanceof Problem ? error : parts.problemOf(error);
      if (!problem)
        parts.log.error(
          `admin API: ${request.method} ${path}: ${error instanceof Error ? error.stack : String(error)}`,
        );
      writeProblem(response, problem ?? new Problem(500, "internal error; see the log of the gateway"));
    }
  };
}

interface AdmittedRequest {
  readonly principal: Principal;
  readonly account: Account | undefined;
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  /** The object that the path names, as the audit log describes it. */
  readonly object: RecordedChange["object"];
  readonly headers: IncomingMessage["headers"];
}

/** Routes for anyone are logins, which emit their own events. */
function isChange(route: Route, search: URLSearchParams): boolean {
  return route.method !== "GET" && requiredRole(route) !== "anyone" && search.get("dryRun") !== "true";
}

const VERBS = { GET: "read", POST: "create", PATCH: "update", PUT: "update", DELETE: "delete" } as const;

/** Derives the change from the path and the response: `POST /mcp-servers/:uuid/connect` is "connect". */
function changeOf({ route, object }: AdmittedRequest, body: unknown): RecordedChange {
  const last = route.path.split("/").at(-1) ?? "";
  const verb = route.method === "POST" && route.path !== `/${route.tag}` && !last.startsWith(":");
  const answered = isRecord(body) ? body : {};
  // The path has precedence, because the response may contain text of a server.
  const uuid = object.uuid ?? answered["uuid"];
  const name = object.name ?? answered["name"] ?? answered["email"];
  return {
    action: verb ? last : VERBS[route.method],
    object: {
      kind: object.kind,
      ...(typeof uuid === "string" && { uuid }),
      ...(typeof name === "string" && { name }),
    },
  };
}

function mayUse(principal: Principal, route: Route): boolean {
  return "role" in route ? has(principal, route.role) : may(principal, route.action);
}

function refusalOf(principal: Principal, route: Route): string {
  const least = requiredRole(route);
  return least !== "anyone" && has(principal, least)
    ? "this is for accounts: log in, or use a key of an account"
    : `this needs the role "${least}"`;
}

function decoded(params: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch {
    throw new Problem(400, "the path has a broken percent escape");
  }
}

/** Finds the route of a request, checks the caller, runs the route and writes the response. Does not know what the routes do. */

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { addRoute, createRouter, findRoute } from "rou3";
import type { Account } from "../access/account.ts";
import type { AddressOf } from "../access/client-address.ts";
import { has, may } from "../access/may.ts";
import { MAX_OPEN_BYTES, watchOpenBody } from "../access/open-body.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { EVENT_STREAM } from "../kernel/event-stream-headers.ts";
import type { AdminChange, Events } from "../kernel/events.ts";
import { isRecord } from "../kernel/is-record.ts";
import type { Log } from "../kernel/log.ts";
import { ANONYMOUS, type Principal } from "../kernel/principal.ts";
import { CallSignal, type Signal } from "../kernel/signal.ts";
import type { Authenticate } from "./authenticate.ts";
import { JSON_TYPES, readBody } from "./body.ts";
import type { DescribeObject } from "./named-object.ts";
import { Problem, writeProblem } from "./problem.ts";
import {
  type AdminAnswer,
  type AdminRequest,
  type RecordedChange,
  type Route,
  requiredRole,
  type Schema,
  type StreamReader,
} from "./route.ts";

export interface RouterParts {
  readonly routes: readonly Route[];
  readonly log: Log;
  readonly authenticate: Authenticate;
  /** Counts a refused credential. Returns the seconds to wait if there were too many. */
  readonly onRefused?: ((request: IncomingMessage) => number | undefined) | undefined;
  /** Whether the request comes from a page of this gateway. */
  isOwnPage(headers: IncomingMessage["headers"]): boolean;
  readonly addressOf: AddressOf;
  /** Gets an event for each change, and for each change that was refused with 403. */
  readonly events?: Pick<Events, "emit"> | undefined;
  /** Describes the object that a path names. */
  readonly objectOf?: DescribeObject;
  /** Maps an error to a problem. Undefined for an unexpected error. */
  problemOf(error: unknown): Problem | undefined;
}

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
  function admit(path: string, request: IncomingMessage): AdmittedRequest {
    const found = findRoute(router, request.method ?? "GET", path);
    const open = found !== undefined && requiredRole(found.data) === "anyone";
    const known = parts.authenticate(request);
    // The first check, so that unknown callers cannot find out which paths exist.
    if (!known && !open) throw refusal(request);
    if (!found) throw notThere(path);
    if (isForged(request, known?.cookie === true, open))
      throw new Problem(403, "a change with a cookie must come from a page of this gateway (Origin)");
    const { data: route, params = {} } = found;
    const { principal = ANONYMOUS, account } = known ?? {};
    const admitted = withObject({ principal, account, route, params: decoded(params) });
    if (!mayUse(principal, route)) {
      if (route.method !== "GET") emitChanges(admitted, [changeOf(admitted, undefined)], "refused");
      throw new Problem(403, refusalOf(principal, route));
    }
    return admitted;
  }

  function refusal(request: IncomingMessage): Problem {
    const retryAfter = parts.onRefused?.(request);
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

  async function run(path: string, request: IncomingMessage, signal: Signal): Promise<AdminAnswer> {
    const first = admit(path, request);
    const { route } = first;
    const query = queryOf(request, route);
    const reads = request.method === "GET";
    const body = reads ? undefined : await bodyOf(request, first);
    // The body may arrive slowly. A right that the caller lost in this time must count.
    const admitted = reads ? first : admit(path, request);
    const { principal, account } = admitted;
    let recorded: readonly RecordedChange[] | undefined;
    const changes = isChange(route, query);
    const handle = async (given: AdminRequest): Promise<AdminAnswer> => {
      try {
        return await route.handle(given);
      } catch (error) {
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
      body,
      ifMatch: request.headers["if-match"],
      accept: request.headers.accept ?? "*/*",
      recordChanges(more) {
        recorded = [...(recorded ?? []), ...more];
      },
      signal,
    });
    if (changes) emitChanges(admitted, recorded ?? [changeOf(admitted, answer.body)], "ok");
    return answer;
  }

  /** Strangers may send only small bodies, and few at a time. */
  async function bodyOf(request: IncomingMessage, { principal, route }: AdmittedRequest): Promise<unknown> {
    const types = route.types ?? JSON_TYPES;
    if (requiredRole(route) !== "anyone") return await readBody(request, { types, sender: principal.id });
    const address = parts.addressOf(request);
    if (!watchOpenBody(request, address))
      throw new Problem(413, `a request without a login may have at most ${MAX_OPEN_BYTES} bytes`);
    return await readBody(request, { types, sender: address, maxBytes: MAX_OPEN_BYTES });
  }

  function emitChanges(
    { principal }: AdmittedRequest,
    changes: readonly RecordedChange[],
    outcome: AdminChange["outcome"],
  ): void {
    for (const change of changes)
      parts.events?.emit({ type: "admin", at: Date.now(), principal, ...change, outcome });
  }

  /** Gives the stream a function that authenticates the caller again, so that the stream ends with the right to read it. */
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

  /** Detects cross-site requests. A login without an Origin header is allowed, because it comes from a shell. */
  function isForged({ method, headers }: IncomingMessage, byCookie: boolean, open: boolean): boolean {
    if (method === "GET" || parts.isOwnPage(headers)) return false;
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
      const done = await run(path, request, signal);
      if (done.events) stream(path, request, response, done);
      else write(response, done);
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
}

/** Routes for anyone are logins, which emit their own events. */
function isChange(route: Route, query: URLSearchParams): boolean {
  return route.method !== "GET" && requiredRole(route) !== "anyone" && query.get("dryRun") !== "true";
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

/** Refuses unknown parameters, so that a misspelt `dryRun` does not make the change. */
function queryOf({ url = "" }: IncomingMessage, { query = {}, anyQuery }: Route): URLSearchParams {
  const given = new URL(url, "http://localhost").searchParams;
  if (anyQuery) return given;
  for (const [name, text] of given) {
    const schema = Object.hasOwn(query, name) ? query[name] : undefined;
    const known = Object.keys(query).join(", ") || "none";
    if (!schema) throw new Problem(400, `unknown query parameter "${name}"; known: ${known}`);
    if (given.getAll(name).length > 1) throw new Problem(400, `the query contains "${name}" twice`);
    if (!fits(text, schema)) throw new Problem(400, `"${name}" in the query must be ${expectedBy(schema)}`);
  }
  return given;
}

/** A time needs a time zone. Otherwise its meaning would depend on the time zone of the gateway. */
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/i;

/** Validates a parameter. An impossible value would otherwise return an empty list, as if nothing matched. */
function fits(text: string, schema: Schema): boolean {
  const { type, format, enum: values, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (Array.isArray(values)) return values.includes(text);
  if (format === "date-time") return TIME.test(text) && !Number.isNaN(Date.parse(text));
  if (type === "boolean") return text === "true" || text === "false";
  if (type !== "integer") return true;
  return /^\d{1,15}$/.test(text) && Number(text) >= Number(minimum) && Number(text) <= Number(maximum);
}

function expectedBy({ type, format, enum: values, minimum, maximum }: Schema): string {
  if (Array.isArray(values)) return `one of ${values.join(", ")}`;
  if (format === "date-time") return "a time such as 2030-01-31T12:00:00Z";
  if (type === "boolean") return "true or false";
  return maximum === undefined
    ? "a whole number"
    : `a whole number from ${Number(minimum)} to ${Number(maximum)}`;
}

function write(response: ServerResponse, { status, body, text, headers }: AdminAnswer): void {
  const content = text?.content ?? (body === undefined ? "" : JSON.stringify(body));
  response.writeHead(status ?? (content === "" ? 204 : 200), {
    ...(content !== "" && { "content-type": text?.type ?? "application/json" }),
    "content-length": Buffer.byteLength(content),
    "cache-control": "no-store",
    ...(headers as OutgoingHttpHeaders | undefined),
  });
  response.end(content);
}

/**
 * Serves an endpoint over plain HTTP: each tool is a path, and `openapi.json` describes them. Calls pass the
 * same layers as MCP calls.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { readBytes, typeOf } from "../admin/body.ts";
import { Problem, writeProblem } from "../admin/problem.ts";
import type { Tool } from "../catalog/tool.ts";
import type { Origin } from "../kernel/call.ts";
import type { ConcurrencyLimiter } from "../kernel/concurrency-limiter.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { LARGE_BYTES, ownTurn } from "../kernel/own-turn.ts";
import { type Principal, shareOf } from "../kernel/principal.ts";
import { EMPTY_OBJECT, type Raw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import { type TraceHeaders, traceHeadersIn } from "../kernel/traceparent.ts";
import { readValue } from "../rpc/scan.ts";
import { isObject } from "../rpc/slice.ts";
import type { SessionlessRequests } from "../session/sessionless-requests.ts";
import { PublicTools } from "../surface/aggregate/public-tools.ts";
import { forModels } from "../surface/app-tools.ts";
import { callTool } from "../surface/call-tool.ts";
import { internalError } from "../surface/failure.ts";
import { callThroughLayers, type SurfaceLayers } from "../surface/layered-requests.ts";
import { recorded, recordRefusal } from "../surface/recorded.ts";
import type { Scope } from "../surface/scope.ts";
import type { ClientRequest } from "../surface/surface.ts";
import { CREDENTIALS_REVOKED, ENDPOINT_ENDED } from "../transport/end-reasons.ts";
import { MAX_BODY_BYTES } from "../transport/http/body.ts";
import type { Received } from "../transport/http/http-server.ts";
import { describeTools, type EndpointInfo } from "./document.ts";
import { problemOf } from "./problem-of.ts";
import { argumentsIn, scalarArguments } from "./query-arguments.ts";
import { plainResult } from "./result.ts";

export interface OpenApiParts {
  readonly scope: Scope;
  /** The layers around requests of clients. */
  readonly side: SurfaceLayers;
  readonly sessionless: Pick<SessionlessRequests, "run">;
  readonly limiter: ConcurrencyLimiter;
  readonly about: () => EndpointInfo;
}

const DOCUMENT = "openapi.json";
const CLIENT_GONE = new MetaMcpError("cancelled", "the client has left");
const REVOKED = new Problem(401, "the credentials are no longer valid");
const READ_ONLY = new Problem(405, "only GET and HEAD are allowed", { headers: { allow: "GET, HEAD" } });
const NOT_FOUND = new Problem(404, "not found");

export class OpenApiEndpoint {
  readonly #parts: OpenApiParts;
  readonly #tools: PublicTools;
  readonly #open = new Map<ServerResponse, Principal>();

  constructor(parts: OpenApiParts) {
    this.#parts = parts;
    this.#tools = new PublicTools(forModels(parts.scope));
  }

  /** `path` is the part of the URL after `api/`. */
  handle(path: string, received: Received): void {
    const { response, principal } = received;
    this.#open.set(response, principal);
    response.once("close", () => this.#open.delete(response));
    this.#answer(path, received).then(
      (body) => this.#write(response, body),
      (error: unknown) => {
        const { log } = this.#parts.scope;
        this.#write(response, problemOf(error) ?? (problemOf(internalError(log, error)) as Problem));
      },
    );
  }

  /** Ends all requests of these principals. */
  endOf(whose: (principal: Principal) => boolean, reason: MetaMcpError): void {
    const problem = reason === CREDENTIALS_REVOKED ? REVOKED : NOT_FOUND;
    for (const [response, principal] of this.#open) if (whose(principal)) this.#write(response, problem);
  }

  end(): void {
    this.endOf(() => true, ENDPOINT_ENDED);
  }

  /** Writes each response once. The end of the response aborts a running call. */
  #write(response: ServerResponse, answer: Buffer | Problem): void {
    if (!this.#open.delete(response)) return;
    if (answer instanceof Problem) writeProblem(response, answer);
    else write(response, answer);
  }

  async #answer(path: string, received: Received): Promise<Raw | Buffer> {
    const { request, principal } = received;
    const name = decoded(path);
    const { sessionless, limiter } = this.#parts;
    const asked = limiter.ready("inFlight");
    if (asked) await asked;
    if (limiter.full("inFlight")) return await this.#refuse(name, received);
    const answer = async (origin: Origin): Promise<Raw | Buffer> =>
      asksForDocument(name, request)
        ? await this.#document(origin)
        : await this.#call(name, origin, received);
    return await limiter.serve(() => sessionless.run(principal, answer, { surface: "openapi" }));
  }

  /** Refuses a request without reading its body, and records the refusal. */
  async #refuse(tool: string, { principal, request }: Received): Promise<never> {
    const refused = new MetaMcpError("rate_limited", "Too many requests at once. Try again later.");
    return await this.#parts.sessionless.run(
      principal,
      (origin) => {
        const clientRequest = requestOf(origin, new CallSignal());
        const why = { code: refused.code, error: refused, by: "limits" };
        if (!asksForDocument(tool, request))
          recordRefusal(this.#parts.scope, { server: "", tool }, clientRequest, why);
        return Promise.reject(refused);
      },
      { surface: "openapi" },
    );
  }

  async #document(origin: Origin): Promise<Buffer> {
    await this.#tools.loadMissing(origin);
    const tools = this.#tools.all(origin);
    return Buffer.from(JSON.stringify(describeTools(tools, this.#parts.about())));
  }

  async #call(name: string, origin: Origin, received: Received): Promise<Raw> {
    if (name === DOCUMENT && !this.#has(name, origin)) throw READ_ONLY;
    const { scope, side } = this.#parts;
    const { request, response } = received;
    const signal = new CallSignal();
    response.once("close", () => signal.abort(CLIENT_GONE));
    const clientRequest = requestOf(origin, signal, traceHeadersIn(request.headers));
    // Reads the body first. Otherwise it would stay unread while a server lists its tools.
    const body = request.method === "POST" ? await bodyOf(received) : undefined;
    const result = await recorded(scope, { server: "", tool: name, args: body }, clientRequest, (inner) =>
      this.#tools.use(name, inner, async (tool) => {
        if (!tool) throw unknown(name);
        const args = body ?? withErrorCode(inner, () => this.#queryArguments(tool, received));
        return await callThroughLayers(side, { name, args }, inner, () =>
          callTool(scope, { server: tool.server, tool: tool.name, args }, inner),
        );
      }),
    );
    return plainResult(result);
  }

  #has(name: string, origin: Origin): boolean {
    return [...this.#tools.all(origin)].some(([one]) => one === name);
  }

  #queryArguments(tool: Tool, { request }: Received): Raw {
    const scalars = scalarArguments(tool);
    const allow = scalars ? "GET, POST" : "POST";
    if (!scalars || request.method !== "GET")
      throw new Problem(405, `only ${allow} here`, { headers: { allow } });
    const query = new URL(request.url ?? "", "http://localhost").searchParams;
    // The credential is not an argument.
    if (this.#parts.about().access.queryKey) query.delete("api_key");
    return argumentsIn(query, scalars);
  }
}

function requestOf(origin: Origin, signal: CallSignal, trace?: TraceHeaders): ClientRequest {
  const { uplink } = origin;
  return { method: "tools/call", overNetwork: true, params: undefined, origin, signal, uplink, trace };
}

function asksForDocument(name: string, { method }: IncomingMessage): boolean {
  return name === DOCUMENT && (method === "GET" || method === "HEAD");
}

/** Records an invalid query with our error code. The HTTP response keeps the original problem. */
function withErrorCode(request: ClientRequest, read: () => Raw): Raw {
  try {
    return read();
  } catch (error) {
    if (request.trail) request.trail.code = "validation_input";
    throw error;
  }
}

/** The same error for a hidden tool and an unknown one. */
function unknown(name: string): MetaMcpError {
  const text = `There is no tool "${name.slice(0, 128)}" here; see ${DOCUMENT}.`;
  return new MetaMcpError("tool_not_found", text);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new Problem(400, "the path has a broken percent escape");
  }
}

async function bodyOf(received: Received): Promise<Raw> {
  const { request } = received;
  const bytes = await readBytes(request, shareOf(received.principal), MAX_BODY_BYTES);
  if (bytes.length === 0) return EMPTY_OBJECT;
  typeOf(request, ["application/json"]);
  const isLarge = bytes.length >= LARGE_BYTES;
  if (isLarge) await ownTurn();
  const value = readValue(bytes);
  if (isLarge) await ownTurn();
  if (typeof value === "string") throw new Problem(400, `the body is ${value}`);
  if (!isObject(value)) throw new Problem(400, "the body must be an object with the arguments");
  return value;
}

function write(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": body.length,
    "cache-control": "no-store",
  });
  response.end(body);
}

/**
 * Emits an event when a tool call, or a use of a prompt or resource, begins and when it ends. Each is
 * recorded once, on every surface.
 */
import { BUILTIN_SERVER } from "../kernel/builtin-server.ts";
import { newTrail, refusedBy, type Trail } from "../kernel/call.ts";
import { ERRORS, type ErrorCode, MetaMcpError } from "../kernel/errors.ts";
import type { CallEnded, CallFailure, ItemMethod } from "../kernel/events.ts";
import { EMPTY_OBJECT, type Raw, scalarOf } from "../kernel/raw.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { member, members } from "../rpc/slice.ts";
import { failureInResult, failureOf } from "./call-failure.ts";
import type { HiddenTool, Scope } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

/** What is called, with the names that the client uses. */
export interface CallTarget {
  readonly server: string;
  readonly tool: string;
  readonly args?: Raw | undefined;
  /** Set for a prompt or resource; `tool` is then its name or URI. */
  readonly method?: ItemMethod | undefined;
}

type Ending = Pick<CallEnded, "outcome" | "code" | "rpcCode" | "result" | "failure">;

/**
 * Codes with which MetaMCP itself refuses a call. Other codes, such as rate_limited, may also come from a
 * server: they count as a refusal only if the trail names the layer.
 */
const REFUSAL_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  "tool_not_found",
  "server_not_found",
  "validation_input",
  "forbidden",
  "backend_override_invalid",
  "stream_not_supported",
]);
const IS_ERROR = Buffer.from('"isError"');

let calls = 0;

export type Recording = Pick<Scope, "events" | "clock" | "target" | "refused" | "hiding" | "maskedArguments">;

/**
 * Runs a call and records it, unless nobody listens to events or it is part of a call that is being recorded.
 */
export function recorded(
  scope: Recording,
  target: CallTarget,
  request: ClientRequest,
  run: (request: ClientRequest) => Promise<Raw>,
): Promise<Raw> {
  if (!scope.events.hasListeners || request.trail) return run(request);
  const trail = newTrail();
  const end = begin(scope, target, request, trail);
  let running: Promise<Raw>;
  try {
    running = run({ ...request, trail });
  } catch (error) {
    running = Promise.reject(error as Error);
  }
  return running.then(
    (result) => {
      end(endingOfResult(result, trail.target?.server ?? target.server));
      return trail.stored ? whenStored(trail.stored, result) : result;
    },
    (error: unknown) => {
      const ending = endingOfError(error, trail, target);
      const over = overLimit(scope, target, request, { trail, code: ending.code });
      end(over ? { outcome: "refused", code: over.code, failure: failureOf(over) } : ending);
      const answered = over ?? error;
      if (!trail.stored) throw answered;
      return whenStored(trail.stored, EMPTY_OBJECT).then(() => {
        throw answered;
      });
    },
  );
}

/** No answer leaves before a record that is required is stored. */
async function whenStored(stored: Promise<void>, result: Raw): Promise<Raw> {
  try {
    await stored;
  } catch (cause) {
    const text =
      "The record of this call could not be written, and calls must be recorded here. The call may have had effects: check before you repeat it.";
    throw new MetaMcpError("server_unavailable", text, { cause, retryable: false, mayHaveRun: true });
  }
  return result;
}

/**
 * A request for something that does not exist counts for the limits too, although it does not reach their
 * layers. Invalid arguments do not count.
 */
function overLimit(
  { refused }: Recording,
  { server, tool, method }: CallTarget,
  { origin }: ClientRequest,
  { trail, code }: { readonly trail: Trail; readonly code: string | undefined },
): MetaMcpError | undefined {
  const unknown = code === "tool_not_found" || code === "server_not_found";
  if (!unknown && (method === undefined || code !== "validation_input")) return undefined;
  if (trail.layers.length > 0 || trail.child || trail.by !== undefined) return undefined;
  return refused?.({ server, tool, method: method ?? "tools/call", origin });
}

interface RefusalReason {
  readonly code: ErrorCode;
  /** Its text is the reason. */
  readonly error?: unknown;
  /** The layer that refused the call, if one did, and the object that has it. */
  readonly by?: string | undefined;
  readonly place?: string | undefined;
}

/** Records a call that was refused before it began. */
export function recordRefusal(
  scope: Recording,
  target: CallTarget,
  request: ClientRequest,
  { code, error, by, place }: RefusalReason,
): void {
  if (!scope.events.hasListeners || request.trail) return;
  const trail = newTrail(by);
  trail.place = place;
  overLimit(scope, target, request, { trail, code });
  const failure = error === undefined ? undefined : failureOf(error);
  begin(scope, target, request, trail)({ outcome: "refused", code, failure });
}

/** Emits `call.begun`. Returns the function that emits `call.ended`. */
function begin(
  scope: Recording,
  { server, tool, args, method }: CallTarget,
  request: ClientRequest,
  trail: Trail,
): (ending: Ending) => void {
  const { events, clock } = scope;
  const { origin, via } = request;
  const since = clock.now();
  const id = ++calls;
  const asked = { server, tool };
  const known = server === "" || server === BUILTIN_SERVER ? undefined : scope.target(server, tool, origin);
  if (known) trail.target = known;
  if (events.tracer) trail.trace = events.tracer(request);
  trail.httpRequest = request.trace?.request;
  const first = known ?? asked;
  events.emit({
    type: "call.begun",
    at: Date.now(),
    id,
    method,
    origin,
    server: first.server,
    tool: first.tool,
    via,
    trail,
  });
  return ({ outcome, code, rpcCode, result, failure }) => {
    const last = trail.target ?? asked;
    // If the server was asked, the call may have had effects. It is then a failure, even if a layer ended it,
    // e.g. by timeout.
    const refused =
      (outcome === "refused" || (outcome === "error" && trail.by !== undefined)) && !trail.child;
    const hidden =
      refused && UNKNOWN.has(code) && trail.by === undefined
        ? scope.hiding?.(server, tool, origin)
        : undefined;
    if (hidden) refusedBy(trail, hidden.use, hidden.at);
    const { server: lastServer, tool: lastTool } = hidden?.target ?? last;
    events.emit({
      type: "call.ended",
      at: Date.now(),
      id,
      method,
      origin,
      server: lastServer,
      tool: lastTool,
      via,
      trail,
      durationMs: clock.now() - since,
      outcome: refused ? "refused" : outcome === "ok" ? "ok" : "error",
      failure: outcome === "ok" ? failure : unsent(scope, { server, tool, args }, { trail, hidden, failure }),
      code,
      rpcCode,
      arguments: args,
      result,
      // For a call found by a query, the arguments are known only when the tool is.
      requestBytes: (args ?? trail.arguments)?.length ?? 0,
      resultBytes: result?.length ?? 0,
    });
  };
}

const UNKNOWN: ReadonlySet<string | undefined> = new Set(["tool_not_found", "server_not_found"]);

/** Completes why a call failed: what hides the tool, and the arguments of one that no server was asked. */
function unsent(
  scope: Recording,
  { server, tool, args }: CallTarget,
  {
    trail,
    hidden,
    failure,
  }: { readonly trail: Trail; readonly hidden: HiddenTool | undefined } & Pick<Ending, "failure">,
): CallFailure {
  const known = trail.arguments || !args ? undefined : scope.maskedArguments?.(server, args);
  return {
    ...failure,
    ...(hidden && { reason: hidden.reason }),
    ...(hidden?.target && server === "" && { asked: tool }),
    arguments: known,
  };
}

/**
 * An error that is not a MetaMcpError comes from the server. An exception is an RpcError for a prompt or
 * resource that never reached a server: no server has it, and the request is refused.
 */
function endingOfError(error: unknown, { code: known, child }: Trail, { method }: CallTarget): Ending {
  const other = method && !child && error instanceof RpcError ? "validation_input" : "execution_failed";
  const code = MetaMcpError.is(error) ? error.code : (known ?? other);
  return {
    outcome: REFUSAL_CODES.has(code) ? "refused" : "error",
    code,
    failure: failureOf(error, child !== undefined),
    ...(error instanceof RpcError && { rpcCode: error.code }),
  };
}

/**
 * A failed tool call is a result too. Searching the bytes for `isError` is far cheaper than parsing the
 * result.
 */
function endingOfResult(result: Raw, server: string): Ending {
  if (!result.includes(IS_ERROR)) return { outcome: "ok", result };
  const [isError, structured] = members(result, ["isError", "structuredContent"]);
  if (isError?.toString() !== "true") return { outcome: "ok", result };
  const code = (server === BUILTIN_SERVER && structured && codeIn(structured)) || "execution_failed";
  const failure = failureInResult(result, server === BUILTIN_SERVER);
  return { outcome: REFUSAL_CODES.has(code) ? "refused" : "error", code, result, failure };
}

function codeIn(structured: Raw): string | undefined {
  const error = member(structured, "error");
  const [code] = error ? members(error, ["code"]) : [];
  const written = scalarOf(code);
  return typeof written === "string" && Object.hasOwn(ERRORS, written) ? written : undefined;
}

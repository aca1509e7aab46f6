/** Tells of each call of a tool, and each use of a prompt or resource, when it begins and when it ends: once, whichever surface it came through and however it ends. */
import { newTrail, type Trail } from "../kernel/call.ts";
import { ERRORS, type ErrorCode, MetaMcpError } from "../kernel/errors.ts";
import type { CallEnded, ItemMethod } from "../kernel/events.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { member, members } from "../rpc/slice.ts";
import { OWN_SERVER } from "./own/tools.ts";
import type { Scope } from "./scope.ts";
import type { ClientRequest } from "./surface.ts";

/** What is called, as the caller names it. */
export interface Wanted {
  readonly server: string;
  readonly tool: string;
  readonly args?: Raw | undefined;
  /** A prompt or resource is wanted: `tool` is its name or URI. */
  readonly method?: ItemMethod | undefined;
}

type Ending = Pick<CallEnded, "outcome" | "code" | "rpcCode" | "result">;

/** With these we say no by ourselves. What limits or forbids at a server comes without the name of a layer. */
const REFUSALS: ReadonlySet<string> = new Set<ErrorCode>([
  "tool_not_found",
  "server_not_found",
  "validation_input",
  "forbidden",
  "backend_override_invalid",
  "stream_not_supported",
]);
const IS_ERROR = Buffer.from('"isError"');
const NOTHING = 0;

let calls = 0;

/** Where calls are told. */
export type Recording = Pick<Scope, "events" | "clock" | "target">;

/** Runs it as it is where nobody listens, or where it is a part of a call that is being recorded. */
export function recorded(
  scope: Recording,
  wanted: Wanted,
  request: ClientRequest,
  run: (request: ClientRequest) => Promise<Raw>,
): Promise<Raw> {
  if (!scope.events.heard || request.trail) return run(request);
  const trail = newTrail();
  const end = begin(scope, wanted, request, trail);
  let running: Promise<Raw>;
  try {
    running = run({ ...request, trail });
  } catch (error) {
    end(failed(error, trail, wanted));
    throw error;
  }
  return running.then(
    (result) => {
      end(answered(result, trail.target?.server ?? wanted.server));
      return result;
    },
    (error: unknown) => {
      end(failed(error, trail, wanted));
      throw error;
    },
  );
}

interface RefusedFor {
  readonly code: ErrorCode;
  /** The layer that refused it, where one did. */
  readonly by?: string | undefined;
}

/** A call that was refused before it could begin. */
export function recordRefusal(
  scope: Recording,
  wanted: Wanted,
  request: ClientRequest,
  { code, by }: RefusedFor,
): void {
  if (!scope.events.heard || request.trail) return;
  const trail = newTrail(by);
  begin(scope, wanted, request, trail)({ outcome: "refused", code });
}

function begin(
  scope: Recording,
  { server, tool, args, method }: Wanted,
  request: ClientRequest,
  trail: Trail,
): (ending: Ending) => void {
  const { events, clock } = scope;
  const { origin, via } = request;
  const since = clock.now();
  const id = ++calls;
  const asked = { server, tool };
  const known = server === "" || server === OWN_SERVER ? undefined : scope.target(server, tool, origin);
  if (known) trail.target = known;
  if (events.tracer) trail.trace = events.tracer(request);
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
  return ({ outcome, code, rpcCode, result }) => {
    const last = trail.target ?? asked;
    // What a layer says after the server was asked, as when time is up, is a failure: it may have had effects.
    const refused =
      (outcome === "refused" || (outcome === "error" && trail.by !== undefined)) && !trail.child;
    events.emit({
      type: "call.ended",
      at: Date.now(),
      id,
      method,
      origin,
      server: last.server,
      tool: last.tool,
      via,
      trail,
      durationMs: clock.now() - since,
      outcome: refused ? "refused" : outcome === "ok" ? "ok" : "error",
      code,
      rpcCode,
      arguments: args,
      result,
      // Arguments of a query are known only once the tool is.
      requestBytes: (args ?? trail.arguments)?.length ?? NOTHING,
      resultBytes: result?.length ?? NOTHING,
    });
  };
}

/** Of what is no error of ours, the server answered with one. A prompt or resource that nobody has is refused as the protocol does. */
function failed(error: unknown, { code: told, child }: Trail, { method }: Wanted): Ending {
  const unknown = method && !child && error instanceof RpcError ? "validation_input" : "execution_failed";
  const code = MetaMcpError.is(error) ? error.code : (told ?? unknown);
  return {
    outcome: REFUSALS.has(code) ? "refused" : "error",
    code,
    ...(error instanceof RpcError && { rpcCode: error.code }),
  };
}

/** A failed tool is a result too. Looking for a rare word is far cheaper than walking over the result. */
function answered(result: Raw, server: string): Ending {
  if (!result.includes(IS_ERROR)) return { outcome: "ok", result };
  const [isError, structured] = members(result, ["isError", "structuredContent"]);
  if (isError?.toString() !== "true") return { outcome: "ok", result };
  const code = (server === OWN_SERVER && structured && codeIn(structured)) || "execution_failed";
  return { outcome: REFUSALS.has(code) ? "refused" : "error", code, result };
}

function codeIn(structured: Raw): string | undefined {
  const error = member(structured, "error");
  const [code] = error ? members(error, ["code"]) : [];
  const written = code && fromRaw(code);
  return typeof written === "string" && Object.hasOwn(ERRORS, written) ? written : undefined;
}

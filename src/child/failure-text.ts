/** Turns a failure at the child into the error that the caller gets. */
import { hasEntryCredential } from "../config/entry-credential.ts";
import type { RemoteSpec, ServerSpec } from "../config/spec.ts";
import type { Call } from "../kernel/call.ts";
import { MetaMcpError, mayHaveRun } from "../kernel/errors.ts";
import { EMPTY_OBJECT, toRaw } from "../kernel/raw.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { isObject, member, withMember } from "../rpc/slice.ts";
import type { StartPhase } from "./connect-limit.ts";
import { mayInstall, whySlow } from "./download.ts";
import { readChallenge } from "./http/challenge.ts";
import { ChildFailure } from "./link.ts";

export interface FailedCall extends Pick<Call, "server" | "repeat"> {
  /** The call certainly did not reach the child on any connection. */
  readonly unsent: boolean;
  /** How often it may have reached the child. */
  readonly attempts: number;
}

/** Where people log in at a server, and the advice for the caller. */
export interface LoginPlace {
  readonly url: string;
  readonly advice: string;
}

/** Returns undefined if people log in as the config says, or with `metamcp auth`. */
export type HowToLogIn = (spec: ServerSpec) => LoginPlace | undefined;

export function callError(error: unknown, call: FailedCall, spec: ServerSpec, place?: LoginPlace): Error {
  const explained = explainOnce(error, call, spec, place);
  return call.attempts > 1 ? withAttempts(explained, call.attempts) : explained;
}

/** Says in the text and in the data that the call was sent more than once. */
function withAttempts(error: Error, attempts: number): Error {
  const text = `${sentence(error.message)} MetaMCP sent this call ${attempts} times, because its connection was lost.`;
  if (MetaMcpError.is(error)) {
    const details = { ...(error.context.details as object | undefined), attempts };
    return new MetaMcpError(error.code, text, { ...error.context, details });
  }
  if (!(error instanceof RpcError)) return error;
  const data = member(error.raw, "data");
  // Data that is no object stays as the server wrote it.
  const counted =
    data === undefined || isObject(data)
      ? withMember(error.raw, "data", withMember(data ?? EMPTY_OBJECT, "metamcp/attempts", toRaw(attempts)))
      : error.raw;
  return new RpcError(withMember(counted, "message", toRaw(text)));
}

function explainOnce(error: unknown, call: FailedCall, spec: ServerSpec, place?: LoginPlace): Error {
  const { server } = call;
  if (error instanceof RpcError) return tooLarge(error, server) ?? error;
  if (error instanceof ChildFailure && error.category === "auth")
    return loginRequired(error, server, spec, place);
  if (error instanceof ChildFailure) return unavailable(error, call);
  if (MetaMcpError.is(error)) return error.context.server ? error : error.with({ server });
  if (error instanceof Error && error.name === "AbortError") {
    return new MetaMcpError("cancelled", "The call was cancelled.", { server, cause: error });
  }
  return error as Error;
}

function loginRequired(
  failure: ChildFailure,
  server: string,
  spec: ServerSpec,
  place: LoginPlace | undefined,
): MetaMcpError {
  const details = loginDetails(failure, spec, place);
  const text = `${server}: ${loginAdvice(failure, spec, place)}`;
  return new MetaMcpError("auth_required", text, { server, cause: failure, ...(details && { details }) });
}

function unavailable(failure: ChildFailure, { server, repeat, unsent }: FailedCall): MetaMcpError {
  if (failure.limited) {
    const text = `${server}: ${sentence(failure.message)} Nothing was done.`;
    return new MetaMcpError("rate_limited", text, { server, cause: failure, ...failure.limited });
  }
  const advice = unsent ? "Nothing was done." : mayHaveRun(repeat);
  return new MetaMcpError("server_unavailable", `${server}: ${sentence(failure.message)} ${advice}`, {
    server,
    retryable: (unsent || repeat === "safe") && !failure.needsFix,
    mayHaveRun: !unsent,
    details: { category: failure.category },
    output: failure.output,
    cause: failure,
  });
}

/** Why a server refused us, and what a person can do about it. */
export function loginAdvice(failure: ChildFailure, spec: ServerSpec, place?: LoginPlace): string {
  return `${sentence(failure.message)} ${place?.advice ?? defaultAdvice(failure, spec)}`;
}

function defaultAdvice({ challenge }: ChildFailure, spec: ServerSpec): string {
  if (spec.kind === "stdio") return "Check the credentials in its env.";
  if (hasEntryCredential(spec)) return "Check the Authorization header in its config.";
  // MetaMCP gets tokens for itself.
  if (spec.oauth?.grant) return "Check oauth.clientId and its secret or key in the config.";
  if (spec.oauth || readChallenge(challenge)) return `Ask the user to run: ${loginCommand(spec)}`;
  return `Check its headers in the config, or log in with: ${loginCommand(spec)}`;
}

function loginDetails(
  { challenge }: ChildFailure,
  spec: ServerSpec,
  place: LoginPlace | undefined,
): object | undefined {
  const { scopes = [] } = readChallenge(challenge) ?? {};
  const more = scopes.length > 0 && { scopes };
  if (place) return { login: place.url, ...more };
  if (spec.kind === "stdio" || hasEntryCredential(spec) || spec.oauth?.grant) return undefined;
  return { command: loginCommand(spec), ...more };
}

function loginCommand({ name }: RemoteSpec): string {
  return `metamcp auth ${/^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`}`;
}

/** The codec replaces a message over the size limit by an error with this mark. */
function tooLarge(error: RpcError, server: string): MetaMcpError | undefined {
  const { data } = error;
  const marked =
    typeof data === "object" && data !== null && "metamcp" in data && data.metamcp === "result_too_large";
  return marked ? new MetaMcpError("result_too_large", error.message, { server }) : undefined;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** The error of a call that timed out after it was sent. */
export function callTimeout(call: Call, spec: ServerSpec, silentMs: number): MetaMcpError {
  const limit =
    silentMs >= spec.timeoutMs
      ? `was silent for ${spec.timeoutMs} ms (timeoutMs)`
      : `took longer than allowed (deadlineMs ${spec.deadlineMs})`;
  return new MetaMcpError(
    "timeout",
    `${spec.name} ${limit}; the call was cancelled at the server. ${mayHaveRun(call.repeat)}`,
    { server: call.server, retryable: call.repeat === "safe", mayHaveRun: true },
  );
}

/** The error of a call whose deadline passed before the server was connected. */
export function connectedTooLate({ name, deadlineMs }: ServerSpec): MetaMcpError {
  return new MetaMcpError(
    "timeout",
    `${name} was not connected before the deadline of the call (deadlineMs ${deadlineMs}); nothing was sent.`,
    { server: name, retryable: true },
  );
}

/** What is known about a connect that took too long. */
interface LateConnect {
  readonly phase: StartPhase;
  readonly limitMs: number;
  readonly lastWords?: string | undefined;
}

/** The failure of a connect that took longer than `connectTimeoutMs`, or than an install may take. */
export function connectTimeout(spec: ServerSpec, { phase, limitMs, lastWords }: LateConnect): ChildFailure {
  const why = phase === "installing" || !mayInstall(spec) ? whySlow(spec) : undefined;
  const late =
    phase === "installing"
      ? `It was not installed within ${limitMs / 1_000} s`
      : `It was not ready within ${limitMs} ms (connectTimeoutMs)`;
  const perhaps = why ? `: ${why}` : "";
  const said = lastWords ? `; its last output: ${lastWords}` : "";
  return new ChildFailure("offline", `${late}${perhaps}${said}`, { unsent: true });
}

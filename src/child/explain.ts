/** What a caller is told when its call failed at the child. */
import { hasOwnCredential } from "../config/own-credential.ts";
import type { RemoteSpec, ServerSpec } from "../config/spec.ts";
import type { Call } from "../kernel/call.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { whySlow } from "./download.ts";
import { readChallenge } from "./http/challenge.ts";
import { ChildFailure } from "./link.ts";

/** The call as far as it went. */
interface Ended extends Pick<Call, "server" | "repeat"> {
  /** It certainly reached no connection at all. */
  readonly unsent: boolean;
}

export function explain(error: unknown, call: Ended, spec: ServerSpec): Error {
  const { server } = call;
  if (error instanceof RpcError) return tooLarge(error, server) ?? error;
  if (error instanceof ChildFailure) return unavailable(error, call, spec);
  if (MetaMcpError.is(error)) return error.context.server ? error : error.with({ server });
  if (error instanceof Error && error.name === "AbortError") {
    return new MetaMcpError("cancelled", "The call was cancelled.", { server, cause: error });
  }
  return error as Error;
}

function unavailable(
  failure: ChildFailure,
  { server, repeat, unsent }: Ended,
  spec: ServerSpec,
): MetaMcpError {
  if (failure.category === "auth") {
    const details = loginDetails(failure, spec);
    const text = `${server} wants a login: ${toBeLetIn(failure, spec)}`;
    return new MetaMcpError("auth_required", text, { server, cause: failure, ...(details && { details }) });
  }
  if (failure.limited) {
    const text = `${server}: ${sentence(failure.message)} Nothing was done; try again later.`;
    return new MetaMcpError("rate_limited", text, { server, cause: failure, ...failure.limited });
  }
  const harmless = unsent || repeat === "safe";
  const advice = harmless
    ? "Nothing was done; it can be tried again."
    : "It is not known whether the call had effects; check before you repeat it.";
  return new MetaMcpError("server_unavailable", `${server}: ${sentence(failure.message)} ${advice}`, {
    server,
    retryable: harmless,
    details: { category: failure.category },
    cause: failure,
  });
}

/** Why a server did not let us in, and what a person can do about it. */
export function toBeLetIn(failure: ChildFailure, spec: ServerSpec): string {
  return `${sentence(failure.message)} ${howToLogIn(failure, spec)}`;
}

function howToLogIn({ challenge }: ChildFailure, spec: ServerSpec): string {
  if (spec.kind === "stdio") return "Check the credentials in its env.";
  if (hasOwnCredential(spec)) return "Check the Authorization header in its config.";
  if (spec.oauth || readChallenge(challenge)) return `Ask the user to run: ${loginCommand(spec)}`;
  return `Check its headers in the config, or log in with: ${loginCommand(spec)}`;
}

function loginDetails({ challenge }: ChildFailure, spec: ServerSpec): object | undefined {
  if (spec.kind === "stdio" || hasOwnCredential(spec)) return undefined;
  const { scopes = [] } = readChallenge(challenge) ?? {};
  return { command: loginCommand(spec), ...(scopes.length > 0 && { scopes }) };
}

function loginCommand({ name }: RemoteSpec): string {
  return `metamcp auth ${/^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`}`;
}

/** A message over the limit reaches us as an error that the codec wrote in its place. */
function tooLarge(error: RpcError, server: string): MetaMcpError | undefined {
  const { data } = error;
  const marked =
    typeof data === "object" && data !== null && "metamcp" in data && data.metamcp === "result_too_large";
  return marked ? new MetaMcpError("result_too_large", error.message, { server }) : undefined;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export function timeoutOf(call: Call, spec: ServerSpec, silentMs: number): MetaMcpError {
  const limit =
    silentMs >= spec.timeoutMs
      ? `was silent for ${spec.timeoutMs} ms (timeoutMs)`
      : `took longer than it may in all (deadlineMs ${spec.deadlineMs})`;
  return new MetaMcpError(
    "timeout",
    `${spec.name} ${limit}; the call was cancelled there. It may still have had effects.`,
    { server: call.server, retryable: call.repeat === "safe" },
  );
}

export function lateOf({ name, deadlineMs }: ServerSpec): MetaMcpError {
  return new MetaMcpError(
    "timeout",
    `${name} was not connected in the time that a call may take in all (deadlineMs ${deadlineMs}); nothing was sent.`,
    { server: name, retryable: true },
  );
}

/** It did not connect in time. */
export function slowOf(spec: ServerSpec, lastWords: string | undefined): ChildFailure {
  const why = whySlow(spec);
  const late = `${spec.name} was not ready within ${spec.connectTimeoutMs} ms (connectTimeoutMs)`;
  const perhaps = why ? `: ${why}, and the next start is quicker` : "";
  const said = lastWords ? `; it last said: ${lastWords}` : "";
  return new ChildFailure("offline", `${late}${perhaps}${said}`, { unsent: true });
}

/** The part of the official client that speaks OAuth. Loaded when first needed: a start must not pay for it. */
import { MetaMcpError } from "../kernel/errors.ts";

export type Sdk = typeof import("./official.ts");

/** An issuer that does not answer must not hold calls up for ever. */
const TIMEOUT_MS = 15_000;
const LONGEST_TEXT = 200;

/** What an issuer says when it is not the login that is at fault. */
const PASSING: ReadonlySet<string> = new Set([
  "server_error",
  "temporarily_unavailable",
  "too_many_requests",
  "slow_down",
]);

export async function loadSdk(): Promise<Sdk> {
  return await import("./official.ts");
}

/** `fetch` with an end. */
export async function boundedFetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
  return await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/** The issuer itself said that this cannot work again. */
export function isFinal(sdk: Sdk, error: unknown): boolean {
  return error instanceof sdk.OAuthError && !PASSING.has(error.code);
}

/** What may be shown of an error on the way to a token: descriptions are written by strangers and may repeat secrets. */
export function shownError(sdk: Sdk, error: unknown): string {
  if (MetaMcpError.is(error)) return error.message;
  if (error instanceof sdk.OAuthError) return `it answered ${clean(error.code)}`;
  if (error instanceof sdk.IssuerMismatchError)
    return "an answer came from another issuer than the one that was asked";
  if (error instanceof sdk.RegistrationRejectedError)
    return `it refuses to register MetaMCP (status ${error.status})`;
  if (!(error instanceof Error)) return "it failed for no known reason";
  if (error.name === "TimeoutError") return `it did not answer within ${TIMEOUT_MS / 1000} s`;
  if (error instanceof TypeError) return `it cannot be reached (${codeBehind(error)})`;
  if (error.name === "ZodError" || error instanceof SyntaxError)
    return "its answer is not what OAuth has for it";
  return clean(error.message);
}

function codeBehind({ cause, message }: Error): string {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : clean(message);
}

function clean(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/g, " ").slice(0, LONGEST_TEXT);
}

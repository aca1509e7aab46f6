/**
 * Access to the OAuth part of the official client, with limits on its requests. Loaded on first use, because
 * it would slow the start.
 */
import { MetaMcpError } from "../kernel/errors.ts";
import { mayLeadTo } from "./reach.ts";

export type Sdk = typeof import("./official.ts");
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** An issuer that does not answer must not block calls. */
const TIMEOUT_MS = 15_000;
const MAX_TEXT_LENGTH = 200;
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const NOT_ALLOWED = "it uses http or a private address, which is allowed only if the server itself does";
/** Metadata and tokens are small. */
const MAX_ANSWER_BYTES = 1 << 20;

/** Error codes after which the login cannot be used again. All other errors may be temporary. */
const FINAL_CODES: ReadonlySet<string> = new Set(["invalid_grant", "invalid_client", "unauthorized_client"]);

export async function loadSdk(): Promise<Sdk> {
  return await import("./official.ts");
}

/**
 * A `fetch` with limits on time and size, only for addresses that a login at `server` may use, also after
 * redirects. POST requests contain secrets, so they follow no redirect.
 */
export function fetchFor(server: string): Fetch {
  const from = new URL(server);
  return async (url, init = {}) => {
    const { redirect = "follow", method = "GET" } = init;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    let at = new URL(url);
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      if (!mayLeadTo(from, at)) throw new MetaMcpError("auth_required", NOT_ALLOWED);
      const response = await fetch(at.href, { ...init, redirect: "manual", signal });
      const next = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
      if (next === null || redirect === "manual") return bounded(response);
      await response.body?.cancel();
      if (redirect === "error" || method !== "GET" || !URL.canParse(next, at.href)) break;
      at = new URL(next, at);
    }
    throw new MetaMcpError("auth_required", "it redirects to an unexpected address");
  };
}

function bounded(response: Response): Response {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  let size = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      size += part.byteLength;
      if (size <= MAX_ANSWER_BYTES) controller.enqueue(part);
      else controller.error(new MetaMcpError("auth_required", "its answer is too long"));
    },
  });
  return new Response(body.pipeThrough(count), { status, statusText, headers });
}

/** Whether the issuer returned an error after which the login cannot be used again. */
export function isFinal(sdk: Sdk, error: unknown): boolean {
  return error instanceof sdk.OAuthError && FINAL_CODES.has(error.code);
}

/**
 * The text of an OAuth error for users. It contains no error description, because the issuer writes it and it
 * may contain secrets.
 */
export function shownError(sdk: Sdk, error: unknown): string {
  if (MetaMcpError.is(error)) return error.message;
  if (error instanceof sdk.OAuthError) return `it answered ${clean(error.code)}`;
  if (error instanceof sdk.IssuerMismatchError) return "the answer came from another issuer";
  if (error instanceof sdk.RegistrationRejectedError)
    return `it refuses to register MetaMCP (status ${error.status})`;
  if (!(error instanceof Error)) return "it failed for an unknown reason";
  if (error.name === "TimeoutError") return `it did not answer within ${TIMEOUT_MS / 1000} s`;
  if (error instanceof TypeError) return `it cannot be reached (${causeCode(error)})`;
  if (error.name === "ZodError" || error instanceof SyntaxError) return "its answer is not valid OAuth";
  return clean(error.message);
}

/** Returns the code, because the message may contain the whole address with a password. */
function causeCode({ cause }: Error): string {
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  // fetch refuses the ports of other protocols, such as 9 and 25.
  if (message === "bad port") return "connections to this port are blocked; use another port";
  return typeof code === "string" ? code : "it is not a usable address";
}

function clean(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/g, " ").slice(0, MAX_TEXT_LENGTH);
}

/** The part of the official client that speaks OAuth. Loaded when first needed: a start must not pay for it. */
import { MetaMcpError } from "../kernel/errors.ts";
import { mayLeadTo } from "./reach.ts";

export type Sdk = typeof import("./official.ts");
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** An issuer that does not answer must not hold calls up for ever. */
const TIMEOUT_MS = 15_000;
const LONGEST_TEXT = 200;
const MOST_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const TOO_NEAR = "it uses http or a private address, which is allowed only if the server itself does";
/** Metadata and tokens are a few lines. */
const LARGEST_ANSWER = 1 << 20;

/** What an issuer says when it is the login, or who we are to it, that is not good any more. All else may pass. */
const FINAL: ReadonlySet<string> = new Set(["invalid_grant", "invalid_client", "unauthorized_client"]);

export async function loadSdk(): Promise<Sdk> {
  return await import("./official.ts");
}

/** `fetch` with an end in time and size, to where a login at `server` may lead, redirects included. What is posted is a secret, and follows none. */
export function fetchFor(server: string): Fetch {
  const from = new URL(server);
  return async (url, init = {}) => {
    const { redirect = "follow", method = "GET" } = init;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    let at = new URL(url);
    for (let hops = 0; hops <= MOST_REDIRECTS; hops += 1) {
      if (!mayLeadTo(from, at)) throw new MetaMcpError("auth_required", TOO_NEAR);
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
      if (size <= LARGEST_ANSWER) controller.enqueue(part);
      else controller.error(new MetaMcpError("auth_required", "its answer is too long"));
    },
  });
  return new Response(body.pipeThrough(count), { status, statusText, headers });
}

/** The issuer itself said that this cannot work again. */
export function isFinal(sdk: Sdk, error: unknown): boolean {
  return error instanceof sdk.OAuthError && FINAL.has(error.code);
}

/** What may be shown of an error on the way to a token: descriptions are written by strangers and may repeat secrets. */
export function shownError(sdk: Sdk, error: unknown): string {
  if (MetaMcpError.is(error)) return error.message;
  if (error instanceof sdk.OAuthError) return `it answered ${clean(error.code)}`;
  if (error instanceof sdk.IssuerMismatchError) return "the answer came from another issuer";
  if (error instanceof sdk.RegistrationRejectedError)
    return `it refuses to register MetaMCP (status ${error.status})`;
  if (!(error instanceof Error)) return "it failed for an unknown reason";
  if (error.name === "TimeoutError") return `it did not answer within ${TIMEOUT_MS / 1000} s`;
  if (error instanceof TypeError) return `it cannot be reached (${codeBehind(error)})`;
  if (error.name === "ZodError" || error instanceof SyntaxError) return "its answer is not valid OAuth";
  return clean(error.message);
}

/** The text itself may hold the whole address, password included. */
function codeBehind({ cause }: Error): string {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : "it is not a usable address";
}

function clean(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/g, " ").slice(0, LONGEST_TEXT);
}

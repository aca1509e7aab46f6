/**
 * Normalizes the metadata of OAuth clients to what this server offers. Well-known clients request more than
 * they need, so extra values are removed instead of refused.
 */
import { isOwnMachine } from "../server-logins/reach.ts";
import { SCOPE } from "./resource.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
const GRANT_TYPES = new Set(["authorization_code", "refresh_token"]);
/** Schemes that run code in the browser or read local data. */
const FORBIDDEN_SCHEMES = new Set(["javascript:", "vbscript:", "data:", "blob:", "file:", "about:"]);

type Metadata = Record<string, unknown>;

/** Changes the metadata in place. Returns the reason if the metadata are refused. */
export function normalizeMetadata(metadata: Metadata): string | undefined {
  const uris = stringsIn(metadata["redirect_uris"]);
  const fault = uris.map(redirectFault).find((found) => found !== undefined);
  if (fault !== undefined) return fault;
  const grants = stringsIn(metadata["grant_types"]).filter((grant) => GRANT_TYPES.has(grant));
  Object.assign(metadata, {
    application_type: isNative(uris) ? "native" : "web",
    grant_types: grants.length > 0 ? grants : ["authorization_code"],
    response_types: ["code"],
    response_modes: ["query"],
    scope: SCOPE,
    id_token_signed_response_alg: "ES256",
    subject_type: "public",
  });
  // These are not offered, and validating them would fetch URLs that the client chose.
  for (const name of ["sector_identifier_uri", "default_max_age", "require_auth_time", "default_acr_values"])
    delete metadata[name];
  return undefined;
}

/**
 * A client on the user's own machine. Its port may change, and nothing proves which program listens there.
 */
function isNative(uris: readonly string[]): boolean {
  const parsed = uris.filter((uri) => URL.canParse(uri)).map((uri) => new URL(uri));
  const secureLoopback = parsed.some(
    ({ protocol, hostname }) => protocol === "https:" && LOOPBACK.has(hostname),
  );
  return !secureLoopback && parsed.some(({ protocol }) => protocol !== "https:");
}

/** Whether a redirect leads to a program on the user's own machine, over whichever scheme. */
export function isOnThisMachine(uri: string): boolean {
  if (!URL.canParse(uri)) return true;
  const { protocol, hostname } = new URL(uri);
  return protocol !== "https:" || isOwnMachine(hostname);
}

function redirectFault(uri: string): string | undefined {
  if (!URL.canParse(uri)) return "redirect_uris must contain only URLs";
  const { protocol, hostname, username, password } = new URL(uri);
  if (FORBIDDEN_SCHEMES.has(protocol)) return `redirect_uris must not use ${protocol}`;
  if (username + password !== "") return "redirect_uris must not contain a user name";
  if (uri.includes("*")) return "redirect_uris must not contain wildcards";
  return protocol === "http:" && !LOOPBACK.has(hostname)
    ? "redirect_uris must use https, except loopback addresses"
    : undefined;
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}

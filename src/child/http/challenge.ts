/**
 * Reads the `WWW-Authenticate` header of a refusal. The server is not trusted: only well-formed scopes are
 * used.
 */

export interface Challenge {
  readonly error: string | undefined;
  readonly scopes: readonly string[];
}

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;
const MAX_SCOPES = 50;

/** Returns undefined if the header asks for no bearer token. */
export function readChallenge(header: string | undefined): Challenge | undefined {
  const at = header?.search(/(?:^|[\s,])bearer(?:\s|$)/i) ?? -1;
  if (header === undefined || at < 0) return undefined;
  const bearer = header.slice(at);
  const scopes = parameter(bearer, "scope")?.split(" ") ?? [];
  return {
    error: parameter(bearer, "error"),
    scopes: scopes.filter((scope) => SCOPE.test(scope)).slice(0, MAX_SCOPES),
  };
}

function parameter(text: string, name: string): string | undefined {
  const found = new RegExp(`[\\s,]${name}\\s*=\\s*(?:"([^"]*)"|([^\\s,"]+))`, "i").exec(text);
  return found?.[1] ?? found?.[2];
}

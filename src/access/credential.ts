/**
 * Reads the credential from the headers of a request. Two different credentials are invalid, because a proxy
 * may have checked the other one.
 */
import type { IncomingMessage } from "node:http";

const INVALID = "";

type CredentialSource = Pick<IncomingMessage, "headers" | "rawHeaders" | "url">;

/** Returns undefined without a credential, and "" for an invalid one. `inQuery`: also reads `?api_key=`. */
export function credentialOf(request: CredentialSource, inQuery = false): string | undefined {
  const { headers, rawHeaders, url = "" } = request;
  let found: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (isHeader(name, "authorization")) found = combine(found, bearerIn(rawHeaders[at + 1] as string));
    else if (isHeader(name, "x-api-key")) found = combine(found, rawHeaders[at + 1] as string);
  }
  if (inQuery)
    for (const key of new URL(url, "http://localhost").searchParams.getAll("api_key"))
      found = combine(found, key);
  // A trailer, or a header that Node joined, is only in `headers`.
  return found ?? (headers.authorization === undefined ? undefined : INVALID);
}

function combine(found: string | undefined, other: string): string {
  return found === undefined || found === other ? other : INVALID;
}

function isHeader(name: string, lowerCaseName: string): boolean {
  return name.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName;
}

function bearerIn(authorization: string): string {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
}

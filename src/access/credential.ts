/** The credential that a request shows in its headers. Whoever shows two shows none: which of them a proxy looked at cannot be known. */
import type { IncomingMessage } from "node:http";

type Shown = Pick<IncomingMessage, "headers" | "rawHeaders" | "url">;

/** Undefined: none is shown. Empty: what is shown can be nobody's. `inQuery`: `?api_key=` counts as well. */
export function credentialOf(request: Shown, inQuery = false): string | undefined {
  const { headers, rawHeaders, url = "" } = request;
  const shown: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase();
    const value = rawHeaders[at + 1] ?? "";
    if (name === "authorization") shown.push(bearerIn(value));
    else if (name === "x-api-key") shown.push(value);
  }
  if (inQuery) shown.push(...new URL(url, "http://localhost").searchParams.getAll("api_key"));
  const [first] = shown;
  // A trailer or a header that Node joined is in `headers` only.
  if (first === undefined) return headers.authorization === undefined ? undefined : "";
  return shown.every((other) => other === first) ? first : "";
}

function bearerIn(authorization: string): string {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
}

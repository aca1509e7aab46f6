/** The credential that a request shows in its headers. Whoever shows two shows none: which of them a proxy looked at cannot be known. */
import type { IncomingMessage } from "node:http";

const NOBODYS = "";

type Shown = Pick<IncomingMessage, "headers" | "rawHeaders" | "url">;

/** Undefined: none is shown. Empty: what is shown can be nobody's. `inQuery`: `?api_key=` counts as well. */
export function credentialOf(request: Shown, inQuery = false): string | undefined {
  const { headers, rawHeaders, url = "" } = request;
  let shown: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (isHeader(name, "authorization")) shown = both(shown, bearerIn(rawHeaders[at + 1] as string));
    else if (isHeader(name, "x-api-key")) shown = both(shown, rawHeaders[at + 1] as string);
  }
  if (inQuery)
    for (const key of new URL(url, "http://localhost").searchParams.getAll("api_key"))
      shown = both(shown, key);
  // A trailer or a header that Node joined is in `headers` only.
  return shown ?? (headers.authorization === undefined ? undefined : NOBODYS);
}

function both(shown: string | undefined, other: string): string {
  return shown === undefined || shown === other ? other : NOBODYS;
}

function isHeader(name: string, wanted: string): boolean {
  return name.length === wanted.length && name.toLowerCase() === wanted;
}

function bearerIn(authorization: string): string {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
}

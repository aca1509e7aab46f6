/** The credential that a request shows in its headers. Whoever shows two shows none: which of them a proxy looked at cannot be known. */
import type { IncomingMessage } from "node:http";

type Shown = Pick<IncomingMessage, "headers" | "rawHeaders" | "url">;

/** Undefined: none is shown. Empty: what is shown can be nobody's. `inQuery`: `?api_key=` counts as well. */
export function credentialOf(request: Shown, inQuery = false): string | undefined {
  const { headers, rawHeaders, url = "" } = request;
  const shown = [...texts(rawHeaders, "authorization").map(bearerIn), ...texts(rawHeaders, "x-api-key")];
  if (inQuery) shown.push(...new URL(url, "http://localhost").searchParams.getAll("api_key"));
  const [first, ...more] = shown;
  // A trailer or a header that Node joined is in `headers` only.
  if (first === undefined) return headers.authorization === undefined ? undefined : "";
  return more.every((other) => other === first) ? first : "";
}

function texts(raw: readonly string[], name: string): readonly string[] {
  return raw.flatMap((header, at) =>
    at % 2 === 0 && header.toLowerCase() === name ? [raw[at + 1] ?? ""] : [],
  );
}

function bearerIn(authorization: string): string {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
}

/**
 * The URL of a remote server and the headers of every request to it. Errors about a header contain its name,
 * never its value.
 */
import http, { type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { urlToHttpOptions } from "node:url";
import type { RemoteSpec } from "../../config/spec.ts";
import { basicOf } from "../../kernel/basic-auth.ts";
import { perObject } from "../../kernel/per-object.ts";
import { revealed } from "../../kernel/secret.ts";
import { ChildFailure } from "../link.ts";

export function usableUrl(spec: RemoteSpec): URL {
  if (!URL.canParse(spec.url))
    throw new ChildFailure("other", "the configured `url` is not a URL", { unsent: true, needsFix: true });
  const url = new URL(spec.url);
  if (url.protocol === "http:" || url.protocol === "https:") return url;
  throw new ChildFailure("other", `the configured URL has the scheme ${url.protocol}, not http: or https:`, {
    unsent: true,
    needsFix: true,
  });
}

export function staticHeaders(spec: RemoteSpec, url: URL): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { "user-agent": "metamcp" };
  const authorization = basicOf(url);
  if (authorization !== undefined) headers["authorization"] = authorization;
  for (const [name, value] of Object.entries(revealed(spec.headers))) {
    try {
      http.validateHeaderName(name);
      http.validateHeaderValue(name, value);
    } catch {
      throw new ChildFailure("other", `the configured header ${JSON.stringify(name)} cannot be sent`, {
        unsent: true,
        needsFix: true,
      });
    }
    headers[name.toLowerCase()] = value;
  }
  return { ...headers, "accept-encoding": "identity" };
}

/** The address without user info: that is already a header, and Node would add a second one. */
export const addressOf = perObject((url: URL): http.RequestOptions => {
  const { protocol, hostname, port, path } = urlToHttpOptions(url);
  return { protocol, hostname, port, path };
});

/**
 * Where to follow a redirect. Only redirects that keep method and body, and only within the origin, because
 * headers are secrets.
 */
export function redirectTarget(method: string, response: IncomingMessage, from: URL): URL | undefined {
  const status = response.statusCode ?? 0;
  const keeps = status === 307 || status === 308 || (method === "GET" && (status === 301 || status === 302));
  if (!keeps) return undefined;
  const { location } = response.headers;
  if (!location || !URL.canParse(location, from.href)) return undefined;
  const target = new URL(location, from);
  return target.origin === from.origin ? target : undefined;
}

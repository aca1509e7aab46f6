/**
 * Fetches URLs that untrusted clients name: only https, only from public addresses after DNS resolution,
 * without redirects.
 */
import { type LookupAddress, type LookupAllOptions, lookup } from "node:dns";
import { request } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { mayLeadTo } from "../server-logins/reach.ts";

/** Any public origin. A URL that it may lead to is public. */
const PUBLIC_ORIGIN = new URL("https://metamcp.invalid");
const TIMEOUT_MS = 5_000;

export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

export function isPublic(url: URL): boolean {
  return url.protocol === "https:" && url.username === "" && mayLeadTo(PUBLIC_ORIGIN, url);
}

/** `resolve` looks up the addresses of a name. */
export async function fetchPublic(
  address: string | URL,
  init: RequestInit = {},
  resolve: Resolve = lookup,
): Promise<Response> {
  const url = new URL(address);
  if (!isPublic(url)) throw new Error(`${url.host} is not a public address`);
  return await new Promise((resolveResponse, reject) => {
    const headers = Object.fromEntries(new Headers(init.headers));
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(init.signal ? [init.signal] : [])]);
    const outgoing = request(url, {
      method: "GET",
      headers,
      signal,
      lookup: publicLookup(resolve),
      agent: false,
    });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const status = incoming.statusCode ?? 502;
      resolveResponse(new Response(Readable.toWeb(incoming) as ReadableStream, { status, headers }));
    });
    outgoing.end();
  });
}

/**
 * Checks the resolved addresses and connects to exactly these, so that a later DNS incoming cannot change the
 * target.
 */
export function publicLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, "", 0);
      const privateAddress = found.find(({ address }) => !isPublicAddress(address));
      if (privateAddress || !found[0])
        return callback(new Error(`${hostname} is not a public address`), "", 0);
      if (options.all) callback(null, found);
      else callback(null, found[0].address, found[0].family);
    });
  };
}

function isPublicAddress(address: string): boolean {
  const host = isIP(address) === 6 ? `[${address}]` : address;
  return URL.canParse(`https://${host}`) && isPublic(new URL(`https://${host}`));
}

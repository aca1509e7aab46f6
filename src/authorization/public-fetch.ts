/** Fetches what strangers name: over https, from public addresses alone, whatever a name resolves to, and without following redirects. */
import { type LookupAddress, type LookupAllOptions, lookup } from "node:dns";
import { request } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { mayLeadTo } from "../oauth/reach.ts";

/** As far away as anything: what may be asked from there may be asked at all. */
const FAR = new URL("https://metamcp.invalid");
const MOST_MS = 5_000;

export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

export function isPublic(url: URL): boolean {
  return url.protocol === "https:" && url.username === "" && mayLeadTo(FAR, url);
}

/** `resolve`: who is asked for the addresses of a name. */
export async function fetchPublic(
  address: string | URL,
  init: RequestInit = {},
  resolve: Resolve = lookup,
): Promise<Response> {
  const url = new URL(address);
  if (!isPublic(url)) throw new Error(`${url.host} is not a public address`);
  return await new Promise((answered, reject) => {
    const headers = Object.fromEntries(new Headers(init.headers));
    const signal = AbortSignal.any([AbortSignal.timeout(MOST_MS), ...(init.signal ? [init.signal] : [])]);
    const asked = request(url, {
      method: "GET",
      headers,
      signal,
      lookup: publicLookup(resolve),
      agent: false,
    });
    asked.once("error", reject);
    asked.once("response", (answer) => {
      const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const status = answer.statusCode ?? 502;
      answered(new Response(Readable.toWeb(answer) as ReadableStream, { status, headers }));
    });
    asked.end();
  });
}

/** The connection is made to the very addresses that were looked at: a name that means another one the next moment changes nothing. */
function publicLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, "", 0);
      const hidden = found.find(({ address }) => !isPublicAddress(address));
      if (hidden || !found[0]) return callback(new Error(`${hostname} is not a public address`), "", 0);
      if (options.all) callback(null, found);
      else callback(null, found[0].address, found[0].family);
    });
  };
}

function isPublicAddress(address: string): boolean {
  const host = isIP(address) === 6 ? `[${address}]` : address;
  return URL.canParse(`https://${host}`) && isPublic(new URL(`https://${host}`));
}

/** Determines the network address of a client. `X-Forwarded-For` counts only from trusted proxies. */
import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";

/** The part of a request that tells where it came from. */
export interface AddressedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly socket: Pick<Socket, "remoteAddress">;
}

export type AddressOf = (request: AddressedRequest) => string;

/** `trusted` has addresses, or networks such as 10.0.0.0/8. Throws for anything else. */
export function addressReader(trusted: readonly string[]): AddressOf {
  const proxies = new BlockList();
  for (const written of trusted) {
    const [address = "", bits] = written.split("/");
    const version = isIP(address);
    const most = version === 4 ? 32 : 128;
    const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
    if (version === 0 || !(prefix <= most)) throw new Error(`"${written}" is not an address or a network`);
    proxies.addSubnet(address, prefix, version === 4 ? "ipv4" : "ipv6");
  }
  const isProxy = (address: string): boolean => {
    const version = isIP(address);
    return version !== 0 && proxies.check(address, version === 4 ? "ipv4" : "ipv6");
  };
  return ({ headers, socket }) => {
    let address = plain(socket.remoteAddress ?? "");
    if (headers["x-forwarded-for"] === undefined) return address;
    // Each proxy appends the address it got the request from. Read from the end up to the first untrusted
    // address.
    const forwarded = String(headers["x-forwarded-for"]).split(",").map(plain);
    for (let next = forwarded.pop(); isProxy(address) && next; next = forwarded.pop()) {
      if (isIP(next) === 0) break;
      address = next;
    }
    return address;
  };
}

function plain(written: string): string {
  const text = written.trim().replace(/^\[(.*)\](?::\d+)?$/, "$1");
  const bare = /^\d+\.\d+\.\d+\.\d+:\d+$/.test(text) ? text.replace(/:\d+$/, "") : text;
  return bare.replace(/^::ffff:(?=\d+\.)/i, "");
}

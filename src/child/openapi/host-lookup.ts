/**
 * Looks up the host of an API. A public name that leads into a private network is refused: whoever owns the
 * name could point it at the machines beside us. A private host is asked if the config names it as one.
 */
import { lookup } from "node:dns";
import { isIPv6, type LookupFunction } from "node:net";
import { nearness, PUBLIC } from "../../config/nearness.ts";
import { PRIVATE_ADDRESS } from "../http/failure.ts";

/** Names that are not of the public network: the machine gives them, or the network it is in. */
const OWN_NAME = /^[^.]+$|\.(?:localhost|local|internal|intranet|lan|home|corp|private|home\.arpa)$/i;

/** `resolve` is `dns.lookup`. */
export function hostLookup(resolve: typeof lookup = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, "", 0);
      if (!OWN_NAME.test(hostname) && found.some(({ address }) => isPrivate(address)))
        return callback(Object.assign(new Error("a private address"), { code: PRIVATE_ADDRESS }), "", 0);
      const [first] = found;
      if (options.all) callback(null, found);
      else callback(null, first?.address ?? "", first?.family);
    });
  };
}

function isPrivate(address: string): boolean {
  const host = isIPv6(address) ? new URL(`http://[${address}]`).hostname : address;
  return nearness(host) !== PUBLIC;
}

/**
 * How near the machine behind a name or an address is: somewhere public, in a network of our own, or this
 * one. Names are not resolved.
 */
import { isIP } from "node:net";

export const PUBLIC = 0;
export const NETWORK = 1;
export const MACHINE = 2;

/** Expects the form that URLs have. */
export function nearness(hostname: string): number {
  const name = hostname.toLowerCase().replaceAll(/^\[|\]$|\.$/g, "");
  if (name === "localhost" || name.endsWith(".localhost")) return MACHINE;
  if (isIP(name) === 6) return nearness6(name);
  return isIP(name) === 4 ? nearness4(name) : PUBLIC;
}

function nearness4(address: string): number {
  const [a = 0, b = 0, c = 0] = address.split(".").map(Number);
  if (a === 127 || a === 0) return MACHINE;
  const privateRange = a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168);
  const shared = (a === 100 && b >= 64 && b < 128) || (a === 169 && b === 254);
  const special = (a === 192 && b === 0 && c === 0) || (a === 198 && (b === 18 || b === 19)) || a >= 224;
  return privateRange || shared || special ? NETWORK : PUBLIC;
}

/** Expects the form of URLs: compressed, with the last two groups in hex. */
function nearness6(address: string): number {
  if (/^::[0-9a-f]{0,4}$/.test(address)) return MACHINE;
  // IPv4 addresses inside of IPv6: mapped, translated, compatible, or 6to4.
  const [, high, low] =
    /^(?:::ffff:(?:0:)?|64:ff9b::|::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address) ??
    /^2002:([0-9a-f]{1,4}):([0-9a-f]{1,4}):/.exec(address) ??
    [];
  if (high !== undefined && low !== undefined) {
    const [h, l] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
    return nearness4([h >> 8, h & 255, l >> 8, l & 255].join("."));
  }
  return /^f[cdf]|^fe[89a-f]|^64:ff9b:1:/.test(address) ? NETWORK : PUBLIC;
}

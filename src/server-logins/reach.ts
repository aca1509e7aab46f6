/**
 * Decides which addresses a login may use. The server and its issuer choose them, and they must not make
 * MetaMCP send requests to this machine or the local network. Does not resolve names.
 */
import { MACHINE, nearness, PUBLIC } from "../config/nearness.ts";

/**
 * A server may lead to addresses that are at most as near as itself. `server` is the address that the user
 * configured.
 */
export function mayLeadTo(server: URL, target: URL): boolean {
  if (target.origin === server.origin) return true;
  const near = nearness(target.hostname);
  if (target.protocol === "http:" && near === PUBLIC) return false;
  return /^https?:$/.test(target.protocol) && near <= nearness(server.hostname);
}

/** Whether a name or address, in the form of URLs, always means the machine that opens it. */
export function isOwnMachine(hostname: string): boolean {
  return nearness(hostname) === MACHINE;
}

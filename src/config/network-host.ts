/**
 * The hosts that a confined server may reach: how they are written, and which connections they allow. Pure:
 * names are resolved by the caller.
 */
import { BlockList, isIP } from "node:net";
import { nearness, PUBLIC } from "./nearness.ts";

const LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const NAME = `(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*`;
const IPV4 = "\\d{1,3}(?:\\.\\d{1,3}){3}(?:/\\d{1,2})?";
const IPV6 = "\\[[0-9a-f:.]+\\](?:/\\d{1,3})?";
/** A name, a pattern of names, an address or a network, with a port if it is neither 80 nor 443. */
export const NETWORK_HOST = new RegExp(`^(?:${IPV4}|${IPV6}|${NAME})(?::\\d{1,5})?$`, "i");

const USUAL_PORTS = [80, 443];

interface Rule {
  readonly host: string;
  readonly ports: readonly number[];
}

export class NetworkHosts {
  readonly #rules: Rule[];

  constructor(written: readonly string[]) {
    this.#rules = written.map(ruleOf);
  }

  with(more: NetworkHosts): NetworkHosts {
    const both = new NetworkHosts([]);
    both.#rules.push(...this.#rules, ...more.#rules);
    return both;
  }

  /** Whether a connection to this name or address may be attempted. */
  allows(host: string, port: number): boolean {
    return this.#rules.some((rule) => rule.ports.includes(port) && matches(rule.host, host));
  }

  /** Whether a connection may go to this address of the host. Private ones must be listed as addresses. */
  reaches(host: string, port: number, address: string): boolean {
    if (isPublic(address)) return true;
    const listed = this.#rules.some((one) => one.ports.includes(port) && matches(one.host, address));
    return listed || (host === "localhost" && isLoopback(address) && this.allows(host, port));
  }
}

function ruleOf(written: string): Rule {
  const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(written.replace(/^\[(.*)\]/, "[$1]")) ?? [];
  return { host: host.toLowerCase(), ports: port === undefined ? USUAL_PORTS : [Number(port)] };
}

function matches(rule: string, host: string): boolean {
  const version = isIP(host);
  if (version === 0) return rule === host || (rule.startsWith("*.") && host.endsWith(rule.slice(1)));
  const [address = "", bits] = rule.replace(/[[\]]/g, "").split("/");
  if (isIP(address) !== version) return false;
  const family = version === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  if (bits === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(bits), family);
  return list.check(host, family);
}

function isPublic(address: string): boolean {
  const url = `http://${isIP(address) === 6 ? `[${address}]` : address}`;
  return isIP(address) !== 0 && URL.canParse(url) && nearness(new URL(url).hostname) === PUBLIC;
}

function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}

/**
 * Reads what a local server may touch (`sandbox`), and compares it with the floor of an administrator. Pure;
 * child/stdio/confine/ enforces it, and confinable.ts knows whether this machine can.
 */
import { isAbsolute, relative, resolve, sep } from "node:path";
import { type Env, expandTilde, homeFolder, userFolder } from "../home/home.ts";
import { didYouMean } from "../kernel/nearest.ts";
import { type Findings, isKeys, type Keys, kindOf, type Path, text, texts } from "./field.ts";
import { checkSecurityKeys } from "./keys.ts";
import { NETWORK_HOST } from "./network-host.ts";
import { SANDBOX } from "./schemas.ts";

export interface Sandbox {
  /** It runs in a container of this image, instead of in bubblewrap. */
  readonly image?: string;
  /**
   * The working folder, if it belongs to the server: then it is writable. Otherwise it gets a private one.
   */
  readonly folder?: string;
  /** Absolute paths, in addition to the system and the program itself. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** All, none, or the hosts that it reaches through our proxy. */
  readonly network: "all" | "none" | readonly string[];
  readonly memoryMb?: number;
  readonly processes?: number;
  /** The places that a floor permits. Then the package of its script is in one of them too. */
  readonly within?: readonly string[];
}

/** `sandbox` in the settings of a gateway. */
export interface SandboxRules {
  /** For servers without a `sandbox` of their own. */
  readonly default?: unknown;
  /** No server may touch more. It is also the default if there is none. */
  readonly floor?: unknown;
}

const CONFINED: Sandbox = { read: [], write: [], network: "all" };
const KEYS = Object.keys(SANDBOX.anyOf[1].properties);

export interface SandboxContext {
  readonly env: Env;
  /** Relative paths begin here. */
  readonly folder: string;
  /** Replaces variables in a path. */
  readonly resolve?: (text: string, path: Path) => string;
}

/** Undefined for `false`, without a value, and after a fault. */
export function readSandbox(
  value: unknown,
  key: string,
  { env, folder, resolve: replaced = (one) => one }: SandboxContext,
  findings: Findings,
): Sandbox | undefined {
  if (value === undefined || value === false) return undefined;
  if (value === true) return CONFINED;
  if (!isKeys(value)) {
    const form = "{ read, write, network, memoryMb, processes, image }";
    return findings.fault([key], `${key} is ${kindOf(value)}: write true, false or ${form}`);
  }
  checkSecurityKeys(key, value, KEYS, findings);
  const paths = (name: "read" | "write"): readonly string[] =>
    texts(value[name], [key, name], findings).flatMap((written, at) => {
      const path = expandTilde(replaced(written, [key, name, at]), env);
      const whole = resolve(folder, path);
      const kernel = KERNEL.find((one) => isInside(one, whole) || isInside(whole, one));
      if (path === "") findings.fault([key, name, at], `${key}.${name} has an empty path: remove it`);
      else if (kernel !== undefined)
        findings.fault(
          [key, name, at],
          `${key}.${name} has ${whole}, and ${kernel} of this machine must stay outside: list single folders`,
        );
      else return [whole];
      return [];
    });
  return {
    ...readImage(value["image"], [key, "image"], findings),
    read: paths("read"),
    write: paths("write"),
    network: readNetwork(value["network"], [key, "network"], findings),
    ...limit("memoryMb", value, key, findings),
    ...limit("processes", value, key, findings),
  };
}

function readNetwork(value: unknown, path: Path, findings: Findings): Sandbox["network"] {
  const key = path.join(".");
  if (value === undefined) return "all";
  if (value === "all" || value === "none") return value;
  if (!Array.isArray(value)) {
    const guess = typeof value === "string" ? didYouMean(value, ["all", "none"]) : "";
    findings.fault(path, `${key} must be "all", "none" or a list of hosts, ["api.example.com"].${guess}`);
    return "none";
  }
  return value.flatMap((item, at): string[] => {
    const host = text(item, [...path, at], findings)?.toLowerCase();
    if (host === undefined || NETWORK_HOST.test(host)) return host === undefined ? [] : [host];
    const forms = '"api.example.com", "*.example.com", "example.com:8443", "10.0.0.5" or "10.0.0.0/8"';
    findings.fault([...path, at], `${key} has "${host.slice(0, 60)}": write hosts as ${forms}`);
    return [];
  });
}

/** No option of an engine, and no text with a meaning for one. */
const IMAGE = /^[a-z0-9][\w.:/@-]{0,299}$/i;

function readImage(value: unknown, path: Path, findings: Findings): Pick<Sandbox, "image"> {
  if (value === undefined) return {};
  if (typeof value === "string" && IMAGE.test(value)) return { image: value };
  findings.fault(path, `${path.join(".")} must be the name of a container image, such as "node:22-slim"`);
  return {};
}

const LEAST = { memoryMb: 16, processes: 1 } as const;
const MOST = 1_000_000;

function limit(
  name: keyof typeof LEAST,
  value: Keys,
  key: string,
  findings: Findings,
): Pick<Sandbox, typeof name> {
  const number = value[name];
  if (number === undefined) return {};
  if (Number.isSafeInteger(number) && (number as number) >= LEAST[name] && (number as number) <= MOST)
    return { [name]: number as number };
  findings.fault([key, name], `${key}.${name} must be a whole number from ${LEAST[name]} to ${MOST}`);
  return {};
}

/** Through these a server would reach other processes, the kernel and disks. */
const KERNEL = ["/proc", "/dev", "/sys"];

/** The working folder, unless it holds more than the server: a home, files of MetaMCP, or the system. */
export function ownFolder(cwd: string, env: Env): string | undefined {
  const homes = [userFolder(env), homeFolder(env), "/root", "/home", "/tmp", "/var"];
  const isOthers = homes.some((one) => isInside(one, cwd)) || isInside(cwd, homeFolder(env));
  const isSystem = SYSTEM.some((one) => isInside(cwd, one));
  return isOthers || isSystem ? undefined : cwd;
}

const SYSTEM = ["/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/proc", "/dev", "/sys", "/run", "/boot"];

/** Whether a path is that folder or in it. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/** What of a server goes beyond the floor; undefined if nothing does. */
export function beyondFloor(sandbox: Sandbox | undefined, floor: Sandbox): string | undefined {
  if (!sandbox) return '"sandbox": false';
  if (floor.image !== undefined && sandbox.image !== floor.image)
    return sandbox.image === undefined ? 'no "image"' : `"image": "${sandbox.image}"`;
  for (const key of ["read", "write"] as const) {
    const allowed = key === "read" ? [...floor.read, ...floor.write] : floor.write;
    const path = sandbox[key].find((one) => !allowed.some((folder) => isInside(one, folder)));
    if (path !== undefined) return `"${key}": ["${path}"]`;
  }
  const { network } = sandbox;
  if (floor.network !== "all" && network !== "none") {
    if (network === "all") return '"network": "all"';
    const allowed = floor.network === "none" ? [] : floor.network;
    const host = network.find((one) => !allowed.some((other) => includesHost(other, one)));
    if (host !== undefined) return `"network": ["${host}"]`;
  }
  for (const key of ["memoryMb", "processes"] as const) {
    const most = floor[key];
    if (most !== undefined && (sandbox[key] ?? Number.POSITIVE_INFINITY) > most)
      return sandbox[key] === undefined ? `no "${key}"` : `"${key}": ${sandbox[key]}`;
  }
  return undefined;
}

/** Whether the pattern allows all that the other one allows. */
function includesHost(pattern: string, other: string): boolean {
  return pattern === other || (pattern.startsWith("*.") && other.endsWith(pattern.slice(1)));
}

export const UNCONFINED = "everything that its user may touch";

/** For people: what a local server may touch, in one line. */
export function shownSandbox(sandbox: Sandbox | undefined): string {
  if (!sandbox) return UNCONFINED;
  const { image, folder, read, write, network, memoryMb, processes } = sandbox;
  const hosts = network === "all" ? "any" : network === "none" ? "none" : network.join(", ") || "none";
  return [
    ...(image === undefined ? [] : [`in a container of ${image}`]),
    `writes ${[...(folder === undefined ? ["a private folder"] : [folder]), ...write].join(", ")}`,
    ...(read.length > 0 ? [`reads ${read.join(", ")}`] : []),
    `network: ${hosts}`,
    ...(memoryMb === undefined ? [] : [`${memoryMb} MB`]),
    ...(processes === undefined ? [] : [`${processes} processes`]),
  ].join("; ");
}

/**
 * The known keys, and the messages for unknown ones. An unknown key is ignored with a warning, unless it may
 * be a misspelt security key.
 */
import { distanceWithin } from "../kernel/edit-distance.ts";
import { didYouMean, nearest } from "../kernel/nearest.ts";
import { asWritten, type Findings, type Keys } from "./field.ts";
import type { ServerField } from "./server-field.ts";
import { belongsTo, fieldsWhere, SERVER_FIELDS } from "./server-fields.ts";

/** The keys of some fields in config files, with their other names. */
export function keysWhere(isWanted: (field: ServerField) => unknown): readonly string[] {
  return fieldsWhere((field) => !field.gatewayOnly && isWanted(field)).flatMap((name) => {
    const { aliases = [] }: ServerField = SERVER_FIELDS[name];
    return [name, ...aliases];
  });
}

export const SERVER_KEYS = (["stdio", "remote", "openapi", undefined] as const).flatMap((kind) =>
  keysWhere(({ only }) => only === kind),
);

/** Security keys. If one is misspelt, it would have no effect, so the whole entry is refused. */
const SECURITY_KEYS = keysWhere(({ guards }) => guards === "name");
const MAX_TYPOS = 2;
export const TOOL_RULES = ["allow", "deny", "ask"] as const;

export const TOP_KEYS = [
  "mcpServers",
  "pool",
  "maxResultBytes",
  "autoMaxBytes",
  "pinned",
  "examples",
  "embedder",
  "middleware",
  "sandbox",
  "skills",
] as const;
/** Keys that are ignored without a warning: the schema for editors, and keys of other clients. */
const SILENT_TOP_KEYS = new Set(["$schema", "inputs", "servers"]);

/** Keys of other clients, with the equivalent in MetaMCP if there is one. */
const FOREIGN: Readonly<Record<string, string | undefined>> = {
  autoApprove: undefined,
  alwaysAllow: undefined,
  trust: undefined,
  description: undefined,
  name: undefined,
  id: undefined,
  icon: undefined,
  tags: undefined,
  note: undefined,
  gallery: undefined,
  version: undefined,
  fromGalleryId: undefined,
  watchPaths: undefined,
  dev: undefined,
  sandboxEnabled: undefined,
  disabledTools: asWritten("tools.deny", "[…]"),
  disabled_tools: asWritten("tools.deny", "[…]"),
  excludeTools: asWritten("tools.deny", "[…]"),
  enabledTools: asWritten("tools.allow", "[…]"),
  enabled_tools: asWritten("tools.allow", "[…]"),
  includeTools: asWritten("tools.allow", "[…]"),
  envFile: '"env"',
  timeout: '"timeoutMs"',
  tool_timeout_sec: '"timeoutMs"',
  startup_timeout_sec: '"connectTimeoutMs"',
  startup_timeout_ms: '"connectTimeoutMs"',
  initTimeout: '"connectTimeoutMs"',
};

/** Synonyms that the edit distance does not find. */
const SYNONYMS: Readonly<Record<string, string>> = {
  serverUrl: "url",
  httpUrl: "url",
  uri: "url",
  endpoint: "url",
  spec: "openapi",
  specUrl: "openapi",
  swagger: "openapi",
  cmd: "command",
  arguments: "args",
  environment: "env",
  workingDirectory: "cwd",
  workdir: "cwd",
  http_headers: "headers",
  auth: "oauth",
};

const KINDS = [
  ["command", "stdio"],
  ["url", "remote"],
  ["openapi", "openapi"],
] as const;
/** By the key that says what kind of server it is: the keys of other kinds. */
const IGNORED = new Map(
  KINDS.map(([key, kind]) => [
    key,
    fieldsWhere(({ only }) => only).filter((name) => !belongsTo(kind, name)) as readonly string[],
  ]),
);

/** Keys of other clients with the servers that use them, so that each key is reported once. */
export type ForeignKeys = Map<string, string[]>;

export function checkServerKeys(name: string, entry: Keys, foreign: ForeignKeys, findings: Findings): void {
  // An entry with several of these is refused, so nothing is reported as ignored.
  const [kind, ...others] = KINDS.filter(([key]) => key in entry);
  const ignored = new Set<string>(kind && others.length === 0 ? IGNORED.get(kind[0]) : []);
  for (const key of Object.keys(entry)) {
    if (ignored.has(key)) findings.warn(`${key} is ignored: it cannot be used together with ${kind?.[0]}`);
    else if (SERVER_KEYS.includes(key)) continue;
    else if (Object.hasOwn(FOREIGN, key)) foreign.set(key, [...(foreign.get(key) ?? []), name]);
    else checkUnknown(key, findings);
  }
}

function checkUnknown(key: string, findings: Findings): void {
  const securityKey = meantSecurityKey(key);
  if (securityKey === undefined) findings.warn(unknownKey(key, SERVER_KEYS));
  else findings.fault([key], unknownSecurityKey(key, securityKey));
}

/**
 * The security key that a misspelt key means, or whose content it is: `deny`, `toolsDeny`, `oauth.scopes`.
 */
function meantSecurityKey(key: string): string | undefined {
  if (/^(tools?[^a-z]?)?(allow|deny|ask)$/i.test(key)) return "tools";
  const [first = ""] = key.split(".");
  return SECURITY_KEYS.find((known) => isNearly(key, known) || isNearly(first, known));
}

function isNearly(key: string, known: string): boolean {
  return distanceWithin(key.toLowerCase(), known.toLowerCase(), MAX_TYPOS) <= MAX_TYPOS;
}

/** The message for an unknown key in or similar to a security key. */
function unknownSecurityKey(key: string, meant: string): string {
  const inside = meant === "tools" && TOOL_RULES.find((rule) => key.toLowerCase().endsWith(rule));
  const write = inside ? asWritten(`tools.${inside}`, "[…]") : `"${meant}"`;
  return `the key "${key}" is unknown: write ${write}, or remove it. Invalid security settings disable the entry`;
}

/** Refuses every unknown key inside a security key. */
export function checkSecurityKeys(
  securityKey: string,
  value: Keys,
  known: readonly string[],
  findings: Findings,
): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const [meant = known.join('", "')] = nearest(key, known, 1);
    findings.fault([securityKey, key], unknownSecurityKey(`${securityKey}.${key}`, meant));
  }
}

export function unknownKey(key: string, known: readonly string[]): string {
  const synonym = Object.hasOwn(SYNONYMS, key) ? SYNONYMS[key] : undefined;
  const guess = synonym && known.includes(synonym) ? ` Did you mean "${synonym}"?` : didYouMean(key, known);
  return `the key "${key}" is unknown and ignored.${guess}`;
}

/** The advice if there is neither command nor url, but a synonym of one of them. */
export function otherNameFor(entry: Keys): string {
  for (const key of Object.keys(entry)) {
    const meant = Object.hasOwn(SYNONYMS, key) ? SYNONYMS[key] : undefined;
    if (meant === "url" || meant === "command" || meant === "openapi")
      return ` (rename "${key}" to "${meant}")`;
  }
  return "";
}

/** These keys protect all servers. If one of them is misspelt at the top level, the whole file is invalid. */
const TOP_SECURITY_KEYS = ["middleware", "sandbox"] as const;

export function checkTopKeys(value: Keys, findings: Findings): void {
  for (const key of Object.keys(value)) {
    if (SILENT_TOP_KEYS.has(key) || (TOP_KEYS as readonly string[]).includes(key)) continue;
    const meant = TOP_SECURITY_KEYS.find((known) => isNearly(key, known));
    if (meant !== undefined)
      findings.fault([key], `the key "${key}" is unknown: write "${meant}", or remove it`);
    else findings.warn(unknownKey(key, TOP_KEYS));
  }
}

export function foreignWarnings(foreign: ForeignKeys): readonly string[] {
  return [...foreign].map(([key, servers]) => {
    const instead = FOREIGN[key];
    const advice = instead ? `; use ${instead} instead` : "";
    return `the key "${key}" of other clients is ignored (${servers.join(", ")})${advice}`;
  });
}

/** Which keys exist, and what to say about one that does not. Refuses only what could be a misspelt guard. */
import { distanceWithin } from "../kernel/edit-distance.ts";
import { didYouMean, nearest } from "../kernel/nearest.ts";
import { asWritten, type Findings, type Keys } from "./field.ts";

const COMMON = [
  "type",
  "transport",
  "transportType",
  "lifecycle",
  "criticality",
  "timeoutMs",
  "deadlineMs",
  "connectTimeoutMs",
  "disabled",
  "enabled",
  "tools",
  "isolation",
  "retry",
  "prefix",
  "examples",
  "middleware",
] as const;
const STDIO = ["command", "args", "env", "cwd", "inheritEnv", "instances"] as const;
const REMOTE = ["url", "headers", "oauth"] as const;
export const SERVER_KEYS: readonly string[] = [...STDIO, ...REMOTE, ...COMMON];

/** Keys that protect someone. One that is misspelt would protect nobody, so the entry is not used at all. */
const GUARDS = ["tools", "isolation", "inheritEnv", "oauth", "middleware"] as const;
const MOST_TYPOS = 2;
export const TOOL_RULES = ["allow", "deny", "ask"] as const;

export const TOP_KEYS = [
  "mcpServers",
  "pool",
  "maxResultBytes",
  "examples",
  "embedder",
  "middleware",
] as const;
/** Says which schema an editor shall use, and what another client keeps in the same file. */
const SILENT_TOP_KEYS = new Set(["$schema", "inputs", "servers"]);

/** Keys of other clients in the same form of file, with what does the same here, if anything. */
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
  sandbox: undefined,
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

/** Other words for keys of ours that the distance of letters does not find. */
const SAID_ELSEWHERE: Readonly<Record<string, string>> = {
  serverUrl: "url",
  httpUrl: "url",
  uri: "url",
  endpoint: "url",
  baseUrl: "url",
  cmd: "command",
  arguments: "args",
  environment: "env",
  workingDirectory: "cwd",
  workdir: "cwd",
  http_headers: "headers",
  auth: "oauth",
};

/** Foreign keys by name with the servers that have them: told once each, however many have them. */
export type ForeignKeys = Map<string, string[]>;

export function checkServerKeys(name: string, entry: Keys, foreign: ForeignKeys, findings: Findings): void {
  const [own, other] = "url" in entry ? [REMOTE, STDIO] : [STDIO, REMOTE];
  // With both nothing is ignored: the entry is refused.
  const mattersNot = new Set<string>("command" in entry !== "url" in entry ? other : []);
  for (const key of Object.keys(entry)) {
    if (mattersNot.has(key)) findings.warn(`${key} is ignored: it cannot be used together with ${own[0]}`);
    else if (SERVER_KEYS.includes(key)) continue;
    else if (Object.hasOwn(FOREIGN, key)) foreign.set(key, [...(foreign.get(key) ?? []), name]);
    else checkUnknown(key, findings);
  }
}

function checkUnknown(key: string, findings: Findings): void {
  const guard = guardMeant(key);
  if (guard === undefined) findings.warn(unknownKey(key, SERVER_KEYS));
  else findings.fault(strangeGuard(key, guard));
}

/** A guard with a typo, or what belongs inside of one: `deny`, `toolsDeny`, `oauth.scopes`. */
function guardMeant(key: string): string | undefined {
  if (/^(tools?[^a-z]?)?(allow|deny|ask)$/i.test(key)) return "tools";
  const [first = ""] = key.split(".");
  return GUARDS.find((known) => isNearly(key, known) || isNearly(first, known));
}

function isNearly(key: string, known: string): boolean {
  return distanceWithin(key.toLowerCase(), known.toLowerCase(), MOST_TYPOS) <= MOST_TYPOS;
}

/** For a key inside or beside a guard. */
function strangeGuard(key: string, meant: string): string {
  const inside = meant === "tools" && TOOL_RULES.find((rule) => key.toLowerCase().endsWith(rule));
  const write = inside ? asWritten(`tools.${inside}`, "[…]") : `"${meant}"`;
  return `the key "${key}" is unknown: write ${write}, or remove it. Invalid security settings disable the entry`;
}

/** Whatever is unknown inside a guard is a fault. */
export function checkGuardKeys(
  guard: string,
  value: Keys,
  known: readonly string[],
  findings: Findings,
): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const [meant = known.join('", "')] = nearest(key, known, 1);
    findings.fault(strangeGuard(`${guard}.${key}`, meant));
  }
}

export function unknownKey(key: string, known: readonly string[]): string {
  const elsewhere = Object.hasOwn(SAID_ELSEWHERE, key) ? SAID_ELSEWHERE[key] : undefined;
  const guess =
    elsewhere && known.includes(elsewhere) ? ` Did you mean "${elsewhere}"?` : didYouMean(key, known);
  return `the key "${key}" is unknown and ignored.${guess}`;
}

/** What to do when there is neither command nor url: most often one of them under another name. */
export function otherNameFor(entry: Keys): string {
  for (const key of Object.keys(entry)) {
    const meant = Object.hasOwn(SAID_ELSEWHERE, key) ? SAID_ELSEWHERE[key] : undefined;
    if (meant === "url" || meant === "command") return ` (rename "${key}" to "${meant}")`;
  }
  return "";
}

/** A key that guards all servers and is misspelt is a fault of the file. */
export function checkTopKeys(value: Keys, findings: Findings): void {
  for (const key of Object.keys(value)) {
    if (SILENT_TOP_KEYS.has(key) || (TOP_KEYS as readonly string[]).includes(key)) continue;
    if (isNearly(key, "middleware"))
      findings.fault(`the key "${key}" is unknown: write "middleware", or remove it`);
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

/** Which keys exist, and what to say about one that does not. Reports, refuses nothing. */

import { didYouMean } from "../kernel/nearest.ts";
import type { Findings, Keys } from "./field.ts";

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
] as const;
const STDIO = ["command", "args", "env", "cwd", "inheritEnv"] as const;
const REMOTE = ["url", "headers", "oauth"] as const;
export const SERVER_KEYS: readonly string[] = [...STDIO, ...REMOTE, ...COMMON];

export const TOP_KEYS = ["mcpServers", "pool", "maxResultBytes", "examples", "embedder"] as const;
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
  disabledTools: "tools.deny",
  disabled_tools: "tools.deny",
  excludeTools: "tools.deny",
  enabledTools: "tools.allow",
  enabled_tools: "tools.allow",
  includeTools: "tools.allow",
  envFile: "env",
  timeout: "timeoutMs",
  tool_timeout_sec: "timeoutMs",
  startup_timeout_sec: "connectTimeoutMs",
  startup_timeout_ms: "connectTimeoutMs",
  initTimeout: "connectTimeoutMs",
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
    if (mattersNot.has(key)) findings.warn(`${key} is ignored: it means nothing beside ${own[0]}`);
    else if (SERVER_KEYS.includes(key)) continue;
    else if (Object.hasOwn(FOREIGN, key)) foreign.set(key, [...(foreign.get(key) ?? []), name]);
    else findings.warn(unknownKey(key, SERVER_KEYS));
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

export function checkTopKeys(value: Keys, findings: Findings): void {
  for (const key of Object.keys(value)) {
    if (!SILENT_TOP_KEYS.has(key) && !(TOP_KEYS as readonly string[]).includes(key)) {
      findings.warn(unknownKey(key, TOP_KEYS));
    }
  }
}

export function foreignWarnings(foreign: ForeignKeys): readonly string[] {
  return [...foreign].map(([key, servers]) => {
    const instead = FOREIGN[key];
    const advice = instead ? `; "${instead}" does the like here` : "";
    return `the key "${key}" of other clients is ignored (${servers.join(", ")})${advice}`;
  });
}

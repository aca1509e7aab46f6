/**
 * Turns one entry of `mcpServers` into a ServerSpec, or the reason why it cannot be used. An invalid security
 * setting makes it unusable; any other invalid setting gets its default and a warning.
 */
import { BUILTIN_SERVER } from "../kernel/builtin-server.ts";
import type { FieldProblem } from "../kernel/field-problem.ts";
import { freeze } from "../kernel/freeze.ts";
import { isOff } from "./consent.ts";
import { readDial } from "./dial.ts";
import type { EntryContext } from "./entry-context.ts";
import { choice, Findings, isKeys, type Keys, kindOf, texts, time } from "./field.ts";
import { checkSecurityKeys, checkServerKeys, type ForeignKeys, TOOL_RULES, unknownKey } from "./keys.ts";
import { layersIn } from "./layers.ts";
import { readPlain } from "./plain-fields.ts";
import { LIFECYCLE } from "./schemas.ts";
import { startsItself } from "./self.ts";
import { skillFoldersOf } from "./skill-folders.ts";
import type { Lifecycle, ServerSpec, ToolRules } from "./spec.ts";

const NAME = ["name"] as const;

/** Why an entry cannot be used. */
export interface Unusable {
  /** All problems in one text. */
  readonly reason: string;
  readonly problems: readonly FieldProblem[];
}

export interface CheckedServer {
  readonly result: { readonly spec: ServerSpec } | Unusable | "disabled";
  readonly warnings: readonly string[];
}

export function checkServer(
  name: string,
  entry: unknown,
  context: EntryContext,
  foreign: ForeignKeys = new Map(),
): CheckedServer {
  const findings = new Findings();
  checkName(name, findings);
  if (!isKeys(entry)) {
    findings.fault([], `it is ${kindOf(entry)}: write an object with a command or a url, or remove it`);
    return broken(findings);
  }
  if (isDisabled(entry, findings)) return { result: "disabled", warnings: [] };
  checkServerKeys(name, entry, foreign, findings);
  const dial = readDial(entry, context, findings);
  const common = readCommon(name, entry, findings);
  if (!dial || findings.faults.length > 0) return broken(findings);
  const made: ServerSpec = { ...common, ...dial };
  const folders = skillFoldersOf(made, context, findings);
  if (findings.faults.length > 0) return broken(findings);
  const spec = freeze(folders && made.kind === "stdio" ? { ...made, skillFolders: folders } : made);
  if (!folders && startsItself(spec, context.path)) {
    findings.fault([], "it would start MetaMCP itself with this file: remove it, or use another --config");
    return broken(findings);
  }
  return { result: { spec }, warnings: findings.warnings };
}

function broken({ reason, faults, warnings }: Findings): CheckedServer {
  return { result: { reason, problems: faults }, warnings };
}

function checkName(name: string, findings: Findings): void {
  if (name === BUILTIN_SERVER) {
    findings.fault(
      NAME,
      `the name "${BUILTIN_SERVER}" is reserved: rename the server (an entry that starts MetaMCP itself belongs only in the config of its client)`,
    );
  } else if (name.trim() === "") findings.fault(NAME, "its name is empty: give it one");
  else if (/\p{Cc}/u.test(name)) findings.fault(NAME, "its name contains a control character: rename it");
  else if (name.includes(":")) {
    findings.warn(
      "its name contains a colon, so tool ids (server:tool) cannot refer to its tools; rename it",
    );
  }
}

function isDisabled(entry: Keys, findings: Findings): boolean {
  const { disabled } = entry;
  if (isOff(entry)) return true;
  if (disabled !== undefined && disabled !== false) {
    findings.fault(["disabled"], `disabled is ${kindOf(disabled)}: write true or false, without quotes`);
  }
  return false;
}

function readCommon(name: string, entry: Keys, findings: Findings) {
  const plain = readPlain(entry, undefined, findings);
  const { criticality, retry } = plain;
  return {
    name,
    ...plain,
    retry: criticality === "vital" && entry["retry"] === undefined ? "crash" : retry,
    lifecycle: readLifecycle(entry["lifecycle"], findings),
    tools: readTools(entry["tools"], findings),
    examples: readExamples(entry["examples"], findings),
    ...layersIn(entry, findings),
  } as const;
}

const MODES = LIFECYCLE.anyOf[0].enum;

function readLifecycle(value: unknown, findings: Findings): Lifecycle {
  const parts = isKeys(value) ? value : { mode: value };
  for (const key of Object.keys(parts)) {
    if (key !== "mode" && key !== "idleTimeoutMs")
      findings.warn(`lifecycle: ${unknownKey(key, ["mode", "idleTimeoutMs"])}`);
  }
  const key = isKeys(value) ? "lifecycle.mode" : "lifecycle";
  const { chosen: mode = "default", wrong } = choice(parts["mode"], key, MODES);
  if (wrong) findings.warn(wrong);
  const idleTimeoutMs = time(parts["idleTimeoutMs"], "lifecycle.idleTimeoutMs", findings, 0);
  return { mode, ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }) };
}

function readTools(value: unknown, findings: Findings): ToolRules {
  // Some other clients write a bare list of allowed tools.
  const rules = Array.isArray(value) ? { allow: value as unknown[] } : value === undefined ? {} : value;
  if (!isKeys(rules)) {
    findings.fault(["tools"], `tools is ${kindOf(value)}: write { "allow": […], "deny": […], "ask": […] }`);
    return { allow: [], deny: [], ask: [] };
  }
  checkSecurityKeys("tools", rules, TOOL_RULES, findings);
  return {
    allow: rules["allow"] === undefined ? undefined : texts(rules["allow"], ["tools", "allow"], findings),
    deny: texts(rules["deny"], ["tools", "deny"], findings),
    ask: texts(rules["ask"], ["tools", "ask"], findings),
  };
}

function readExamples(value: unknown, findings: Findings): Readonly<Record<string, readonly unknown[]>> {
  if (value === undefined) return {};
  if (!isKeys(value)) {
    findings.warn('examples is ignored: write { "tool": [ { …arguments } ] }');
    return {};
  }
  const good = Object.entries(value).filter((pair): pair is [string, unknown[]] => {
    if (Array.isArray(pair[1])) return true;
    findings.warn(`examples.${pair[0]} is ignored: write a list of arguments, [ { … } ]`);
    return false;
  });
  return Object.fromEntries(good);
}

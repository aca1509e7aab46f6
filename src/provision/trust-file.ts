/**
 * Reads and edits `trusted-servers.json`. Without the file no publisher is trusted. An invalid file is never
 * changed, and then no publisher is trusted either.
 */
import { join } from "node:path";
import { ConfigError } from "../config/config-error.ts";
import { editJson } from "../config/edit.ts";
import { isKeys, kindOf } from "../config/field.ts";
import { readConfigText } from "../config/load.ts";
import { parseText } from "../config/parse.ts";
import { backup } from "../home/backup.ts";
import { writeAtomic } from "../home/file.ts";
import { withLock } from "../home/lock.ts";
import { flawOf, type TrustRules } from "./trust.ts";

export interface ReadTrust {
  readonly path: string;
  readonly rules: TrustRules;
}

export interface TrustChange {
  readonly list: keyof TrustRules;
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

const LISTS = ["allow", "deny"] as const;

const UNTIL_FIXED = "no publisher is trusted until this is fixed";

/**
 * Earlier versions created a file with exactly these rules without asking the user, so such a file counts as
 * empty.
 */
const GENERATED_RULES = written({
  allow: [
    "@modelcontextprotocol/*",
    "io.github.modelcontextprotocol/*",
    "pypi:mcp-server-fetch",
    "pypi:mcp-server-git",
    "pypi:mcp-server-time",
    "@playwright/*",
    "io.github.microsoft/*",
    "com.microsoft/*",
    "io.github.github/*",
  ],
  deny: [],
});

export const trustPath = (home: string): string => join(home, "trusted-servers.json");

/** Throws ConfigError. */
export async function readTrust(home: string): Promise<ReadTrust> {
  const path = trustPath(home);
  return { path, rules: (await readRules(path)).rules };
}

/** Resolves with the rules after the change. Throws ConfigError. */
export async function changeTrust(
  home: string,
  { list, add = [], remove = [] }: TrustChange,
  now: Date,
): Promise<TrustRules> {
  const path = trustPath(home);
  const change = (rules: TrustRules): readonly string[] => [
    ...new Set([...rules[list].filter((rule) => !remove.includes(rule)), ...add]),
  ];
  const { bare } = await readRules(path);
  if (bare) await rewriteList(path, { home, now }, (rules) => ({ ...rules, [list]: change(rules) }));
  else {
    await editJson(
      path,
      (file) => {
        const rules = rulesIn(path, file);
        const after = { ...rules, [list]: change(rules) };
        return LISTS.filter((one) => !sameList(after[one], (file[one] ?? []) as string[])).map((one) => ({
          at: [one],
          value: after[one],
        }));
      },
      { home, now },
    );
  }
  return (await readRules(path)).rules;
}

/**
 * Rewrites a file that is a bare list of allowed names. It becomes an object only when something is denied.
 */
async function rewriteList(
  path: string,
  { home, now }: { home: string; now: Date },
  change: (rules: TrustRules) => TrustRules,
): Promise<void> {
  await withLock(path, async () => {
    const { rules } = await readRules(path);
    const after = change(rules);
    if (sameList(after.allow, rules.allow) && sameList(after.deny, rules.deny)) return;
    await backup(path, home, now);
    await writeAtomic(path, written(after.deny.length > 0 ? after : after.allow), { mode: "keep" });
  });
}

async function readRules(path: string): Promise<{ rules: TrustRules; bare: boolean }> {
  const parsed = await parseText((await readConfigText(path)) ?? "{}");
  if ("fault" in parsed) throw new ConfigError(path, `${parsed.fault}; ${UNTIL_FIXED}`, parsed.at);
  return { rules: rulesIn(path, parsed.value), bare: Array.isArray(parsed.value) };
}

function rulesIn(path: string, file: unknown): TrustRules {
  const refuse = (what: string): never => {
    throw new ConfigError(path, `${what}; ${UNTIL_FIXED}`);
  };
  if (written(file) === GENERATED_RULES) return { allow: [], deny: [] };
  const keys = Array.isArray(file) ? { allow: file as unknown[] } : file;
  if (!isKeys(keys)) return refuse(`the file contains ${kindOf(file)}: write { "allow": […], "deny": […] }`);
  const unknownKey = Object.keys(keys).find((key) => !(LISTS as readonly string[]).includes(key));
  if (unknownKey !== undefined) refuse(`the key "${unknownKey}" is unknown: use allow and deny`);
  const read = (list: keyof TrustRules): readonly string[] => {
    const rules = keys[list] ?? [];
    if (!Array.isArray(rules)) return refuse(`${list} is ${kindOf(rules)}, not a list`);
    for (const rule of rules as unknown[]) {
      const flaw = typeof rule === "string" ? flawOf(rule, list) : "write a string";
      if (flaw !== undefined) refuse(`${list} holds ${JSON.stringify(rule)}: ${flaw}`);
    }
    return rules as string[];
  };
  return { allow: read("allow"), deny: read("deny") };
}

function written(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}

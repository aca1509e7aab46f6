/**
 * The plan to add a candidate: the entry to write and run, with this environment. It is frozen, so that the
 * user confirms exactly what runs.
 */
import { secretReferences } from "../config/secret-reference.ts";
import { references } from "../config/variables.ts";
import type { Env } from "../home/home.ts";
import { freeze } from "../kernel/freeze.ts";
import { addressesOf, type Candidate, type Entry } from "./candidate.ts";

export interface Plan {
  readonly candidate: Candidate;
  /** The config entry, without optional variables that are not set. */
  readonly entry: Entry;
  /** Names of variables that must be set before. */
  readonly missing: readonly string[];
  /** Why a local server will not be confined. */
  readonly unconfined?: string;
  /** Why the entry must not run. */
  readonly flaw: string | undefined;
}

export function planOf(candidate: Candidate, env: Env): Plan {
  const { entry, variables } = candidate;
  const declared = new Map(variables.map((variable) => [variable.name, variable]));
  const used = textsOf(entry).flatMap((text) => references(text));
  // The config replaces every ${NAME}. An entry must not read variables of the user that it does not declare.
  const undeclared = used.find(({ name }) => !declared.has(name))?.name;
  const lacks = (name: string): boolean => !env[name];
  // Nor secrets of the user: whoever published it is not asked about those either.
  const secret = textsOf(entry).flatMap(secretReferences)[0]?.written;
  const kept = withoutUnset(entry, (name) => declared.get(name)?.required === false && lacks(name));
  const unset = textsOf(kept)
    .flatMap((text) => references(text))
    .filter(({ name, hasDefault }) => !hasDefault && lacks(name));
  const given = new Set(used.filter(({ hasDefault }) => hasDefault).map(({ name }) => name));
  const required = variables.filter(({ name, required: must }) => must && lacks(name) && !given.has(name));
  return freeze({
    candidate,
    entry: kept,
    missing: [...new Set([...required, ...unset].map(({ name }) => name))],
    flaw:
      secret !== undefined
        ? `its entry asks for your secret ${secret}`
        : undeclared && `its entry uses the variable ${undeclared}, which it does not declare`,
  });
}

function textsOf(entry: Entry): readonly string[] {
  if ("command" in entry) return [entry.command, ...entry.args, ...Object.values(entry.env ?? {})];
  return [...addressesOf(entry), ...Object.values(entry.headers ?? {})];
}

/**
 * Drops environment variables and headers with optional unset variables, because an unset variable makes the
 * whole entry unusable.
 */
function withoutUnset(entry: Entry, unset: (name: string) => boolean): Entry {
  const filled = (values: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(
      Object.entries(values).filter(
        ([, value]) => !references(value).some(({ name, hasDefault }) => !hasDefault && unset(name)),
      ),
    );
  if ("command" in entry) {
    const { env: before, ...rest } = entry;
    const env = filled(before);
    return { ...rest, ...(Object.keys(env).length > 0 && { env }) };
  }
  const { headers: before, ...rest } = entry;
  const headers = filled(before);
  return { ...rest, ...(Object.keys(headers).length > 0 && { headers }) };
}

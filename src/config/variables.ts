/**
 * Replaces `${VAR}`, `${VAR:-default}` and `${secret:NAME}` in values. Everything else stays unchanged,
 * including a bare `$VAR`.
 */
import type { Env } from "../home/home.ts";

/** A stored secret of a gateway has the name `secret:NAME`, which no variable can have. */
export const STORED_SECRET = "secret:";
const REFERENCE = /\$\{((?:secret:)?[A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** `missing` collects the names of variables that are not set and have no default. */
export function substitute(text: string, env: Env, missing: Set<string>): string {
  if (!text.includes("${")) return text;
  return text.replace(REFERENCE, (written, name: string, fallback: string | undefined) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    // As in a shell, an empty variable gets the default too.
    if (fallback !== undefined) return value || fallback;
    if (value === undefined) missing.add(name);
    return value ?? written;
  });
}

export interface VariableReference {
  readonly name: string;
  readonly hasDefault: boolean;
}

/** All variables that `substitute` would replace. */
export function references(text: string): readonly VariableReference[] {
  return [...text.matchAll(REFERENCE)].map(([, name = "", fallback]) => ({
    name,
    hasDefault: fallback !== undefined,
  }));
}

/** A variable in the syntax of other programs, which is not replaced; undefined if there is none. */
export function foreignReference(text: string): string | undefined {
  return /\$\{(?:env|input):[^}]*\}/.exec(text)?.[0];
}

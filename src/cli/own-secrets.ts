/**
 * Takes the secrets of MetaMCP out of the environment, so that no server can inherit or name them. Reads
 * those that are in files.
 */
import { readFileSync } from "node:fs";
import { envOf, type Table, UsageError } from "../config/command-line.ts";
import { FLAGS } from "../config/flags.ts";
import { SERVE_FLAGS } from "../config/gateway-flags.ts";
import { codeOf } from "../home/file.ts";
import type { Env } from "../home/home.ts";

/**
 * Removes all our secrets from `env`. Returns a copy with them, and with the content of files for settings in
 * `table`.
 */
export function takeSecrets(env: NodeJS.ProcessEnv, table: Table): Env {
  const own: Record<string, string | undefined> = { ...env };
  const all: Table = { ...FLAGS, ...SERVE_FLAGS };
  for (const [key, { secret }] of Object.entries(all)) {
    if (!secret) continue;
    const name = envOf(key);
    const file = `${name}_FILE`;
    if (table[key] && own[file]) own[name] = readSecret(own, name, file);
    delete own[file];
    delete env[name];
  }
  return own;
}

/** Removes these variables from `env`. For secrets of others that only this process needs. */
export function forget(env: NodeJS.ProcessEnv, names: readonly (string | undefined)[]): void {
  for (const name of names) if (name !== undefined) delete env[name];
}

function readSecret(env: Env, name: string, file: string): string {
  if (env[name]) throw new UsageError(`${name} and ${file} are both set. Remove one of them.`);
  const path = env[file] as string;
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new UsageError(`${file}: ${path} cannot be read (${codeOf(error) ?? String(error)}).`);
  }
  if (text === "") throw new UsageError(`${file}: ${path} is empty.`);
  return text;
}

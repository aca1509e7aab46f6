/**
 * Gets the secrets that a server's config refers to, when the server is reached. Keeps them in memory only.
 */
import { referencesOf, withSecretValues } from "../config/referring.ts";
import type { SecretKind, SecretReference } from "../config/secret-reference.ts";
import { rememberSecret } from "../config/secret-values.ts";
import type { ServerSpec } from "../config/spec.ts";
import { type Env, homeFolder } from "../home/home.ts";
import { secretInFile } from "./file.ts";
import { secretInKeychain } from "./keychain.ts";
import { secretIn1Password } from "./one-password.ts";
import { SecretUnavailable } from "./unavailable.ts";
import { secretInVault } from "./vault.ts";

type Source = (reference: SecretReference, env: Env, signal?: AbortSignal) => Promise<string>;

const SOURCES: Readonly<Record<SecretKind, Source>> = {
  file: ({ name, within }, env) => secretInFile(name, { within, home: homeFolder(env) }),
  keychain: ({ name }, _env, signal) => secretInKeychain(name, signal),
  op: ({ name }, _env, signal) => secretIn1Password(name, signal),
  vault: ({ name }, env, signal) => secretInVault(name, env, signal),
};

/** The spec with its secrets; the same one if it has none. Rejects with SecretUnavailable. */
export async function resolveSecrets<S extends ServerSpec>(
  spec: S,
  env: Env = process.env,
  signal?: AbortSignal,
): Promise<S> {
  if (!spec.references) return spec;
  const pairs = referencesOf(spec).map(
    async (reference) => [reference.written, await secretOf(reference, env, signal)] as const,
  );
  const values = new Map(await Promise.all(pairs));
  for (const [written, value] of values) rememberSecret(written, value);
  try {
    return withSecretValues(spec, values) as S;
  } catch (error) {
    // The text with the secret in it cannot be used, such as a header with a line break.
    throw new SecretUnavailable(`with its secrets the entry ${(error as Error).message}`);
  }
}

async function secretOf(
  reference: SecretReference,
  env: Env,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { kind, written } = reference;
  try {
    const value = (await SOURCES[kind](reference, env, signal)).replace(/\r?\n$/, "");
    if (value === "") throw new SecretUnavailable("it is empty");
    if (value.includes("\0")) throw new SecretUnavailable("it contains a NUL character");
    return value;
  } catch (error) {
    const { message } = error as Error;
    const offline = error instanceof SecretUnavailable && error.offline;
    throw new SecretUnavailable(`the secret ${written} cannot be read: ${message}`, {
      offline,
      cause: error,
    });
  }
}

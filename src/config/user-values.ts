/**
 * `${user.email}`, `${user.id}` and `${user.secret.NAME}` in `env` and `headers`: what a server is told of the account
 * that calls it. Filled in once: what stands in a value is never looked at again.
 */
import { type Secrets, secretsFrom } from "../kernel/secret.ts";
import { hasOwnCredential } from "./own-credential.ts";
import type { ServerSpec } from "./spec.ts";

const REFERENCE = /\$\{user\.([^}]*)\}/g;
const KNOWN = /^(?:email|id|secret\.[A-Za-z_][A-Za-z0-9_]{0,127})$/;

/** What a text names of the account, as it is written behind `user.`. */
export function userValuesIn(text: string): readonly string[] {
  return [...text.matchAll(REFERENCE)].map(([, name = ""]) => name);
}

/** The name of the secret that a value is; undefined where it is none. */
export function secretNamed(value: string): string | undefined {
  return value.startsWith("secret.") ? value.slice("secret.".length) : undefined;
}

export function isUserValue(name: string): boolean {
  return KNOWN.test(name);
}

/** All that this server is told of whoever calls it, each once. */
export function userValuesOf(spec: ServerSpec): readonly string[] {
  const texts = Object.values(told(spec)).map((secret) => secret.reveal());
  return [...new Set(texts.flatMap(userValuesIn))];
}

/** The server as one account reaches it. `values`: by name, all that it names. */
export function filledIn(
  spec: ServerSpec,
  values: ReadonlyMap<string, string>,
  credential: string,
): ServerSpec {
  const texts = Object.entries(told(spec)).map(([name, secret]) => [
    name,
    secret.reveal().replace(REFERENCE, (written, value: string) => values.get(value) ?? written),
  ]);
  const secrets = secretsFrom(Object.fromEntries(texts));
  const own = spec.kind === "stdio" ? { ...spec, env: secrets } : { ...spec, headers: secrets };
  return Object.freeze({ ...own, credential, personal: secretsFrom(Object.fromEntries(values)) });
}

/** Whether each account has to be let in as itself, and how. `own`: it is configured so, whatever it is told. */
export function perAccountOf(spec: ServerSpec, own: boolean): ServerSpec["perAccount"] {
  if (own && spec.kind !== "stdio" && !hasOwnCredential(spec)) return "login";
  return own || userValuesOf(spec).length > 0 ? "values" : undefined;
}

function told(spec: ServerSpec): Secrets {
  return spec.kind === "stdio" ? spec.env : spec.headers;
}

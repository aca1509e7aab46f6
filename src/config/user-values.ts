/**
 * `${user.email}`, `${user.id}` and `${user.secret.NAME}` in `env` and `headers`: values of the calling
 * account. They are replaced once; references inside of a value are not replaced.
 */
import { type Secrets, secretsFrom } from "../kernel/secret.ts";
import { hasEntryCredential } from "./entry-credential.ts";
import type { ServerSpec } from "./spec.ts";

const REFERENCE = /\$\{user\.([^}]*)\}/g;
const KNOWN = /^(?:email|id|secret\.[A-Za-z_][A-Za-z0-9_]{0,127})$/;

/** The values that a text refers to, without `user.`. */
export function userValuesIn(text: string): readonly string[] {
  return [...text.matchAll(REFERENCE)].map(([, name = ""]) => name);
}

/** The name of the secret, if the value is one. */
export function secretNamed(value: string): string | undefined {
  return value.startsWith("secret.") ? value.slice("secret.".length) : undefined;
}

export function isUserValue(name: string): boolean {
  return KNOWN.test(name);
}

/** The values of the account that this server gets, each once. */
export function userValuesOf(spec: ServerSpec): readonly string[] {
  const texts = Object.values(fillableOf(spec)).map((secret) => secret.reveal());
  return [...new Set(texts.flatMap(userValuesIn))];
}

/** The spec for one account. `values` must contain all values that the spec refers to. */
export function filledIn(
  spec: ServerSpec,
  values: ReadonlyMap<string, string>,
  credential: string,
): ServerSpec {
  const texts = Object.entries(fillableOf(spec)).map(([name, secret]) => [
    name,
    secret.reveal().replace(REFERENCE, (written, value: string) => values.get(value) ?? written),
  ]);
  const secrets = secretsFrom(Object.fromEntries(texts));
  const own = spec.kind === "stdio" ? { ...spec, env: secrets } : { ...spec, headers: secrets };
  return Object.freeze({ ...own, credential, personal: secretsFrom(Object.fromEntries(values)) });
}

/**
 * Whether each account needs its own connections, and why. `own`: the config asks for it even without account
 * values.
 */
export function perAccountOf(spec: ServerSpec, own: boolean): ServerSpec["perAccount"] {
  if (own && spec.kind !== "stdio" && !hasEntryCredential(spec) && !spec.oauth?.grant) return "login";
  return own || userValuesOf(spec).length > 0 ? "values" : undefined;
}

function fillableOf(spec: ServerSpec): Secrets {
  return spec.kind === "stdio" ? spec.env : spec.headers;
}

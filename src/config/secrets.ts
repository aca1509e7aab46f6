/**
 * The secrets of a server: all values of env and headers, the OAuth client secret and key, values of the
 * account, stored secrets, those behind references, and those in arguments and the URL.
 */
import { type Mask, maskError, maskOf, Secret } from "../kernel/secret.ts";
import { replaceInArgument } from "../kernel/secret-arguments.ts";
import { referencesOf } from "./referring.ts";
import { secretParts } from "./secret-reference.ts";
import { rememberedSecrets, secretChanges } from "./secret-values.ts";
import type { ServerSpec } from "./spec.ts";

export function secretsOf(spec: ServerSpec): readonly Secret[] {
  const referred = rememberedSecrets(referencesOf(spec).map(({ written }) => written));
  const own = [...Object.values(spec.personal ?? {}), ...(spec.secrets ?? []), ...referred];
  if (spec.kind === "stdio")
    return [...Object.values(spec.env).flatMap(withoutReferences), ...own, ...secretsInArgs(spec.args)];
  const { clientSecret, privateKey } = spec.oauth ?? {};
  const proofs = [clientSecret, privateKey].filter((one) => one !== undefined);
  const configured = [...Object.values(spec.headers), ...proofs].flatMap(withoutReferences);
  const addresses = spec.kind === "openapi" ? [spec.url, spec.openapi] : [spec.url];
  return [...configured, ...own, ...addresses.flatMap(secretsInUrl)];
}

/** Without the references in them: these say where a secret is, and people must see that. */
function withoutReferences(secret: Secret): readonly Secret[] {
  const parts = secretParts(secret.reveal());
  if (parts.length === 1 && parts[0] === secret.reveal()) return [secret];
  return parts.flatMap((part) => (typeof part === "string" ? [new Secret(part)] : []));
}

function secretsInArgs(args: readonly string[]): readonly Secret[] {
  const found: Secret[] = [];
  for (const [at, arg] of args.entries())
    replaceInArgument(arg, args[at - 1], (part) => {
      found.push(new Secret(part));
      return part;
    });
  return found;
}

function secretsInUrl(url: string): readonly Secret[] {
  if (!URL.canParse(url)) return [];
  const { username, password, searchParams } = new URL(url);
  return [username, password, ...searchParams.values()].map((part) => new Secret(part));
}

/** `at`: how many values of references were known when it was made. */
const masks = new WeakMap<ServerSpec, { readonly mask: Mask; readonly at: number }>();

/** Masks the server's secrets in everything that is shown of it: output, errors, reasons. */
export function maskFor(spec: ServerSpec): Mask {
  const known = masks.get(spec);
  const at = spec.references ? secretChanges() : 0;
  if (known?.at === at) return known.mask;
  const mask = maskOf(secretsOf(spec));
  masks.set(spec, { mask, at });
  return mask;
}

/** The error with the server's secrets masked. */
export function masked<E extends Error>(error: E, spec: ServerSpec): E {
  maskError(error, maskFor(spec));
  return error;
}

/**
 * The secrets of a server: all values of env and headers, the OAuth client secret and key, values of the account,
 * stored secrets, and those in arguments and the URL.
 */
import { type Mask, maskError, maskOf, Secret } from "../kernel/secret.ts";
import { replaceInArgument } from "../kernel/secret-arguments.ts";
import type { ServerSpec } from "./spec.ts";

export function secretsOf(spec: ServerSpec): readonly Secret[] {
  const personal = [...Object.values(spec.personal ?? {}), ...(spec.secrets ?? [])];
  if (spec.kind === "stdio") return [...Object.values(spec.env), ...personal, ...secretsInArgs(spec.args)];
  const { clientSecret, privateKey } = spec.oauth ?? {};
  const configured = [
    ...Object.values(spec.headers),
    ...[clientSecret, privateKey].filter((one) => one !== undefined),
  ];
  const addresses = spec.kind === "openapi" ? [spec.url, spec.openapi] : [spec.url];
  return [...configured, ...personal, ...addresses.flatMap(secretsInUrl)];
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

const masks = new WeakMap<ServerSpec, Mask>();

/** Masks the server's secrets in everything that is shown of it: output, errors, reasons. */
export function maskFor(spec: ServerSpec): Mask {
  let mask = masks.get(spec);
  if (!mask) {
    mask = maskOf(secretsOf(spec));
    masks.set(spec, mask);
  }
  return mask;
}

/** The error with the server's secrets masked. */
export function masked<E extends Error>(error: E, spec: ServerSpec): E {
  maskError(error, maskFor(spec));
  return error;
}

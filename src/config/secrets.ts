/** The secrets of a server: every value that the config gives to it alone, whatever its name. */
import { type Mask, maskError, maskOf, Secret } from "../kernel/secret.ts";
import type { ServerSpec } from "./spec.ts";

export function secretsOf(spec: ServerSpec): readonly Secret[] {
  const personal = Object.values(spec.personal ?? {});
  if (spec.kind === "stdio") return [...Object.values(spec.env), ...personal];
  const { clientSecret } = spec.oauth ?? {};
  const configured = [...Object.values(spec.headers), ...(clientSecret ? [clientSecret] : [])];
  return [...configured, ...personal, ...inAddress(spec.url)];
}

function inAddress(url: string): readonly Secret[] {
  if (!URL.canParse(url)) return [];
  const { username, password, searchParams } = new URL(url);
  return [username, password, ...searchParams.values()].map((part) => new Secret(part));
}

const masks = new WeakMap<ServerSpec, Mask>();

/** For whatever is shown of this server: its output, its errors, reasons. */
export function maskFor(spec: ServerSpec): Mask {
  let mask = masks.get(spec);
  if (!mask) {
    mask = maskOf(secretsOf(spec));
    masks.set(spec, mask);
  }
  return mask;
}

/** What went wrong with this server, fit to be shown. */
export function masked<E extends Error>(error: E, spec: ServerSpec): E {
  maskError(error, maskFor(spec));
  return error;
}

/**
 * The texts of a server's config that contain references to secrets, and the spec with their values. Pure.
 */
import { Secret } from "../kernel/secret.ts";
import type { Path } from "./field.ts";
import type { SecretReference } from "./secret-reference.ts";
import type { ServerSpec } from "./spec.ts";

export function referencesOf({
  references = [],
}: Pick<ServerSpec, "references">): readonly SecretReference[] {
  const all = references.flatMap(({ parts }) => parts.filter((part) => typeof part !== "string"));
  return [...new Map(all.map((one) => [one.written, one])).values()];
}

/** The spec with the values of all references. `values` must have them by how they are written. */
export function withSecretValues(spec: ServerSpec, values: ReadonlyMap<string, string>): ServerSpec {
  const copy = structure(spec);
  for (const { path, shown, parts, finish = (text: string) => text } of spec.references ?? []) {
    const [holder, key] = holderOf(copy, path);
    const current = holder?.[key];
    const isSecret = current instanceof Secret;
    // The value of an account stands here instead. It is never read as a reference.
    if (!holder || (isSecret ? current.reveal() : current) !== shown) continue;
    const text = finish(
      parts.map((part) => (typeof part === "string" ? part : (values.get(part.written) ?? ""))).join(""),
    );
    holder[key] = isSecret ? new Secret(text) : text;
  }
  const used = [...values.values()].map((value) => new Secret(value));
  return Object.freeze({ ...copy, secrets: [...(spec.secrets ?? []), ...used] }) as unknown as ServerSpec;
}

type Holder = Record<string | number, unknown>;

/** A copy of everything in which a reference can stand. */
function structure(spec: ServerSpec): Holder {
  return spec.kind === "stdio"
    ? { ...spec, args: [...spec.args], env: { ...spec.env } }
    : { ...spec, headers: { ...spec.headers }, oauth: spec.oauth && { ...spec.oauth } };
}

function holderOf(copy: Holder, path: Path): readonly [Holder | undefined, string | number] {
  const [first = "", second] = path;
  return second === undefined ? [copy, first] : [copy[first] as Holder | undefined, second];
}

/**
 * References to secrets that are kept elsewhere: `${file:…}`, `${keychain:…}`, `${op://…}` and
 * `${vault:…#…}`. Finds them in texts, and says which are allowed. Reads no secret; `secret-sources/` does.
 */
import type { Path } from "./field.ts";

export const SECRET_KINDS = ["file", "keychain", "op", "vault"] as const;
export type SecretKind = (typeof SECRET_KINDS)[number];

export interface SecretReference {
  readonly kind: SecretKind;
  /** What stands behind the kind: a path, a name, `vault/item/field`, or `path#key`. */
  readonly name: string;
  /** As it stands in the config. */
  readonly written: string;
  /** Of a file in a gateway: the allowed places. A link must not lead out of them. */
  readonly within?: readonly string[];
}

/** One text of the config with references in it. Variables in it are replaced already. */
export interface ReferringText {
  /** Where it stands in the spec. */
  readonly path: Path;
  /** The value in the spec. If another one stands there now, it is not replaced. */
  readonly shown: string;
  readonly parts: readonly (string | SecretReference)[];
  /** Turns the text into the value of the spec, for example into an absolute path. */
  readonly finish?: ((text: string) => string) | undefined;
}

/**
 * Prefixes of the names that may be used, by kind; a kind without prefixes may not be used. Undefined allows
 * everything.
 */
export type SecretRules = Readonly<Partial<Record<SecretKind, readonly string[]>>> | undefined;

const REFERENCE = /\$\{(?:(file|keychain|vault):|(op):\/\/)([^{}]*)\}/g;

/** The text in pieces, in order. A text without references is one piece. */
export function secretParts(text: string): readonly (string | SecretReference)[] {
  const parts: (string | SecretReference)[] = [];
  let end = 0;
  for (const match of text.matchAll(REFERENCE)) {
    const [written, kind = match[2], , name = ""] = match;
    if (match.index > end) parts.push(text.slice(end, match.index));
    parts.push({ kind: kind as SecretKind, name, written });
    end = match.index + written.length;
  }
  if (end < text.length || parts.length === 0) parts.push(text.slice(end));
  return parts;
}

export function secretReferences(text: string): readonly SecretReference[] {
  return text.includes("${") ? secretParts(text).filter((part) => typeof part !== "string") : [];
}

const FORMS: Readonly<Record<SecretKind, { readonly valid: RegExp; readonly form: string }>> = {
  file: { valid: /^(?:\/|~\/|\.{1,2}\/|[^/~])[^\0]*$/, form: `\${file:/path/to/file}` },
  // A leading "-" would be an option of secret-tool.
  keychain: { valid: /^(?!-)[^\p{Cc}]+$/u, form: `\${keychain:NAME}` },
  op: { valid: /^[^/\p{Cc}]+(?:\/[^/\p{Cc}]+){2,3}$/u, form: `\${op://vault/item/field}` },
  vault: { valid: /^(?!\/)[^#\p{Cc}]+#[^#\p{Cc}]+$/u, form: `\${vault:path#key}` },
};

/** Why this reference cannot be used; undefined if it can. */
export function secretProblem(
  { kind, name, written }: SecretReference,
  rules: SecretRules,
): string | undefined {
  const { valid, form } = FORMS[kind];
  if (!valid.test(name)) return `${written} is malformed: write it as ${form}`;
  if (rules && !rules[kind]?.some((prefix) => begins(kind, name, prefix)))
    return `${written} is not allowed here: an administrator allows it in the settings, { "secretSources": { "${kind}": ["${prefixOf(kind, name)}"] } }`;
  if (rules && kind === "file" && !name.startsWith("/"))
    return `${written} is not allowed here: write the whole path of the file`;
  if (kind !== "keychain" && name.split(/[/#]/).includes(".."))
    return rules || kind !== "file" ? `${written} is not allowed: its path must not contain ".."` : undefined;
  return undefined;
}

/** A path begins with whole folders: "/run/secrets" does not allow "/run/secrets-of-others". */
function begins(kind: SecretKind, name: string, prefix: string): boolean {
  if (kind === "keychain" || prefix === "" || prefix.endsWith("/")) return name.startsWith(prefix);
  const ends = kind === "vault" ? ["/", "#"] : ["/"];
  return name === prefix || ends.some((end) => name.startsWith(prefix + end));
}

function prefixOf(kind: SecretKind, name: string): string {
  return kind === "keychain" ? name : name.slice(0, name.lastIndexOf("/") + 1);
}

/** The draft of a server: its editable fields, and the patch between two drafts. Pure. */
import type { Server, ServerPatch } from "../../api/types.ts";

export type Draft = Readonly<Record<string, unknown>>;

const READ_ONLY = ["uuid", "status", "managedBy", "revision", "createdAt", "updatedAt"];
/** JSON of default values. Fields with their default value are omitted. */
const DEFAULTS: Readonly<Record<string, string>> = {
  description: '""',
  disabled: "false",
  labels: "[]",
  credentials: '"shared"',
  instances: "1",
  middleware: "[]",
};

export function draftOf(server: Server): Draft {
  const fields = Object.entries(server).filter(
    ([name, value]) => !READ_ONLY.includes(name) && JSON.stringify(value) !== DEFAULTS[name],
  );
  return Object.fromEntries(fields);
}

/** Returns a JSON Merge Patch (RFC 7396); undefined if both are equal. */
export function patchBetween(before: Draft, after: Draft): ServerPatch | undefined {
  const changed = Object.keys({ ...before, ...after }).flatMap((name): readonly [string, unknown][] => {
    const [old, next] = [before[name], after[name]];
    if (next === undefined) return old === undefined ? [] : [[name, null]];
    if (JSON.stringify(old) === JSON.stringify(next)) return [];
    // A merge patch merges objects, so removed members must be null.
    if (isRecord(old) && isRecord(next)) return [[name, patchBetween(old, next) ?? {}]];
    return [[name, next]];
  });
  return changed.length === 0 ? undefined : (Object.fromEntries(changed) as ServerPatch);
}

/** Sets a field, or removes it if the value is empty. */
export function withField(draft: Draft, name: string, value: unknown): Draft {
  const { [name]: _, ...rest } = draft;
  const empty =
    value === undefined ||
    value === "" ||
    (Array.isArray(value) && value.length === 0) ||
    (isRecord(value) && Object.keys(value).length === 0);
  return empty ? rest : name in draft ? { ...draft, [name]: value } : { ...rest, [name]: value };
}

const NAMES_SECRET = /(?:^|[-_.?&])(?:api[-_]?key|access[-_]?key|key|token|secret|passw(?:or)?d|pat)=?$/i;
const CONTAINS_SECRET = /(?:api[-_]?key|token|secret|passw(?:or)?d)=[^\s&]{6,}/i;

/** Returns the first argument or the address that looks like a secret. Both are stored unencrypted. */
export function plainSecretIn({ args, url }: Draft): string | undefined {
  const words = Array.isArray(args) ? args.map(String) : [];
  const at = words.findIndex((word, i) => {
    const value = words[i + 1] ?? "";
    return (
      !word.includes("${") &&
      (CONTAINS_SECRET.test(word) || (NAMES_SECRET.test(word) && value !== "" && !/^[-$]/.test(value)))
    );
  });
  if (at >= 0) return words[at];
  return typeof url === "string" && !url.includes("${") && CONTAINS_SECRET.test(url) ? url : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A server while it is edited: its fields without what the gateway sets, and the patch that makes the one of the other. Pure. */
import type { Server, ServerPatch } from "../../api/types.ts";

export type Draft = Readonly<Record<string, unknown>>;

const READ_ONLY = ["uuid", "status", "managedBy", "revision", "createdAt", "updatedAt"];
/** A field that is as it would be without being said is left out: what is said is what counts. */
const UNSAID: Readonly<Record<string, string>> = {
  description: '""',
  disabled: "false",
  labels: "[]",
  credentials: '"shared"',
  instances: "1",
  middleware: "[]",
};

export function draftOf(server: Server): Draft {
  const said = Object.entries(server).filter(
    ([name, value]) => !READ_ONLY.includes(name) && JSON.stringify(value) !== UNSAID[name],
  );
  return Object.fromEntries(said);
}

/** RFC 7396; undefined where both are the same. */
export function patchBetween(before: Draft, after: Draft): ServerPatch | undefined {
  const changed = Object.keys({ ...before, ...after }).flatMap((name): readonly [string, unknown][] => {
    const [old, next] = [before[name], after[name]];
    if (next === undefined) return old === undefined ? [] : [[name, null]];
    if (JSON.stringify(old) === JSON.stringify(next)) return [];
    // A patch merges objects: what is gone must be said.
    if (isRecord(old) && isRecord(next)) return [[name, patchBetween(old, next) ?? {}]];
    return [[name, next]];
  });
  return changed.length === 0 ? undefined : (Object.fromEntries(changed) as ServerPatch);
}

/** Sets a field, or takes it out where nothing is said. */
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
const HOLDS_SECRET = /(?:api[-_]?key|token|secret|passw(?:or)?d)=[^\s&]{6,}/i;

/** Arguments and addresses are not sealed: the first that looks as if it should be. */
export function plainSecretIn({ args, url }: Draft): string | undefined {
  const words = Array.isArray(args) ? args.map(String) : [];
  const at = words.findIndex((word, i) => {
    const value = words[i + 1] ?? "";
    return (
      !word.includes("${") &&
      (HOLDS_SECRET.test(word) || (NAMES_SECRET.test(word) && value !== "" && !/^[-$]/.test(value)))
    );
  });
  if (at >= 0) return words[at];
  return typeof url === "string" && !url.includes("${") && HOLDS_SECRET.test(url) ? url : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The draft of a server: its editable fields. Pure. */
import { fieldsWhere, SERVER_FIELDS } from "../../../src/config/server-fields.ts";
import { type Fields, isRecord } from "../../merge-patch.ts";

/** Fields with their default value are missing. */
export type Draft = Fields;

/** JSON of the values that mean the same as no value. */
const DEFAULTS = new Map<string, string>(
  fieldsWhere(({ schema }) => "default" in schema).map((name) => [
    name,
    JSON.stringify((SERVER_FIELDS[name].schema as Fields)["default"]),
  ]),
);

export function draftOf(server: object): Draft {
  const fields = Object.entries(server).filter(
    ([name, value]) => Object.hasOwn(SERVER_FIELDS, name) && JSON.stringify(value) !== DEFAULTS.get(name),
  );
  return Object.fromEntries(fields);
}

/** Sets a field, or removes it if the value is empty or the default. */
export function withField(draft: Draft, name: string, value: unknown): Draft {
  const { [name]: _, ...rest } = draft;
  const empty =
    value === undefined ||
    value === "" ||
    (Array.isArray(value) && value.length === 0) ||
    (isRecord(value) && Object.keys(value).length === 0) ||
    JSON.stringify(value) === DEFAULTS.get(name);
  return empty ? rest : name in draft ? { ...draft, [name]: value } : { ...rest, [name]: value };
}

/** The fields that differ, as in `after`; undefined if they are missing there. */
export function changedFields(before: Draft, after: Draft): Draft {
  const names = Object.keys({ ...before, ...after });
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      .map((name) => [name, after[name]]),
  );
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

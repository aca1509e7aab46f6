/**
 * Splits a document into the input that the API would get for each object. Problems have their place in the
 * document.
 */

import { type FieldProblem, pointer } from "../../kernel/field-problem.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { didYouMean } from "../../kernel/nearest.ts";
import type { ObjectKind, StoredObject } from "../objects.ts";
import { invalid } from "../refusal.ts";
import { MASK, OAUTH_SECRETS, secretAt } from "../secrets.ts";
import { SECTIONS } from "./document.ts";

type Fields = Readonly<Record<string, unknown>>;
type NamedKind = Exclude<ObjectKind, "settings">;

/** Of one document. Nobody reads more, and each has a text. */
export const MAX_PROBLEMS = 50;
const TOP_KEYS = [
  "version",
  "settings",
  "middleware",
  "tests",
  "servers",
  "namespaces",
  "endpoints",
  "needs",
];

export interface ReadDocument {
  readonly settings: Fields | undefined;
  readonly sections: Readonly<Record<NamedKind, readonly (readonly [name: string, entry: unknown])[]>>;
}

/** Throws a Refusal. */
export function readDocument(document: unknown): ReadDocument {
  if (!isRecord(document)) throw invalid([{ path: "", message: "must be an object" }]);
  const unknown = Object.keys(document).filter((key) => !TOP_KEYS.includes(key));
  const problems: FieldProblem[] = unknown.slice(0, MAX_PROBLEMS).map((key) => ({
    path: pointer("", key),
    message: `is unknown.${didYouMean(key, TOP_KEYS)}`,
  }));
  if (document["version"] !== 1) problems.push({ path: "/version", message: "must be 1" });
  const sectionOf = (kind: NamedKind) => {
    const section = document[SECTIONS[kind]] ?? {};
    if (isRecord(section)) return Object.entries(section);
    problems.push({ path: `/${SECTIONS[kind]}`, message: "must be an object, by name" });
    return [];
  };
  const sections = {
    server: sectionOf("server"),
    namespace: sectionOf("namespace"),
    endpoint: sectionOf("endpoint"),
  };
  const settings = settingsIn(document, problems);
  if (problems.length > 0) throw invalid(problems);
  return { settings, sections };
}

/** Fields of the settings that stand at the top of a document. */
const AT_TOP = ["middleware", "tests"] as const;

/** The settings, with what stands at the top of the document. Undefined if the document has none of it. */
function settingsIn(document: Fields, problems: FieldProblem[]): Fields | undefined {
  const { settings } = document;
  const top = AT_TOP.filter((field) => document[field] !== undefined);
  if (settings === undefined && top.length === 0) return undefined;
  if (settings !== undefined && !isRecord(settings)) {
    problems.push({ path: "/settings", message: "must be an object" });
    return undefined;
  }
  for (const field of top)
    if (settings?.[field] !== undefined)
      problems.push({ path: `/settings/${field}`, message: "stands at the top, too: keep it there alone" });
  return { ...settings, ...Object.fromEntries(top.map((field) => [field, document[field]])) };
}

/** The place in the document for a path in the settings. */
export function settingsPath(path: string): string {
  return AT_TOP.some((field) => path === `/${field}` || path.startsWith(`/${field}/`))
    ? path
    : `/settings${path}`;
}

export interface EntryInput {
  /** The input in the form of the API. */
  readonly fields: unknown;
  /** Converts a path in the fields to a path in the entry. */
  readonly pathOf: (path: string) => string;
}

export function inputOf(
  kind: NamedKind,
  name: string,
  entry: Fields,
  stored: StoredObject | undefined,
): EntryInput {
  const { uuid: _, ...fields } = entry;
  if (kind === "server")
    return { fields: { ...withSecrets(fields, stored?.spec), name }, pathOf: (path) => path };
  if (kind === "endpoint") return { fields: { ...fields, name }, pathOf: (path) => path };
  const servers = asList(fields["servers"], (server) => ({ server }));
  const tools = asList(fields["tools"], (id) => {
    const colon = id.indexOf(":");
    return colon < 0 ? { tool: id } : { server: id.slice(0, colon), tool: id.slice(colon + 1) };
  });
  const keys: Readonly<Record<string, readonly string[]>> = { servers: servers.keys, tools: tools.keys };
  return {
    fields: { ...fields, name, ...servers.as("servers"), ...tools.as("tools") },
    pathOf: (path) =>
      path.replace(/^\/(servers|tools)\/(\d+)/, (_whole, list: string, at: string) =>
        pointer("", list, keys[list]?.[Number(at)] ?? at),
      ),
  };
}

/** Converts `{key: {…}}` to `[{…key, …}]`. Other values stay, and the schema refuses them. */
function asList(value: unknown, named: (key: string) => Fields) {
  const entries = isRecord(value) ? Object.entries(value) : undefined;
  const list = entries?.map(([key, entry]) =>
    entry === null || isRecord(entry) ? { ...entry, ...named(key) } : entry,
  );
  return {
    keys: entries?.map(([key]) => key) ?? [],
    as: (field: string) => (value === undefined ? {} : { [field]: list ?? value }),
  };
}

/** Adds masks for secrets that the document leaves out, so that they stay. Null removes a secret. */
function withSecrets(fields: Fields, stored: object | undefined): Fields {
  const places = [
    ["env", ["command"]],
    ["headers", ["url", "openapi"]],
  ] as const;
  const merged: Record<string, unknown> = { ...fields };
  for (const [field, beside] of places) {
    const given = fields[field] ?? {};
    if (!isRecord(given)) continue;
    const values = { ...(beside.some((name) => name in fields) ? masks(stored, field) : {}), ...given };
    const kept = Object.entries(values).filter(([, value]) => value !== null);
    if (field in fields || kept.length > 0) merged[field] = Object.fromEntries(kept);
  }
  const { oauth } = fields;
  if (isRecord(oauth)) {
    const kept = [...OAUTH_SECRETS].filter(
      (name) => !(name in oauth) && typeof secretAt(stored, ["oauth", name]) === "object",
    );
    merged["oauth"] = { ...oauth, ...Object.fromEntries(kept.map((name) => [name, MASK])) };
  }
  return merged;
}

/** Adds masks for the secrets of the settings that the document leaves out. Null removes a secret. */
export function withStoredSecrets(fields: Fields, stored: object | undefined): Fields {
  const given = fields["secrets"] ?? {};
  if (!isRecord(given)) return fields;
  const { notify = [] } = (stored ?? {}) as { readonly notify?: readonly Fields[] };
  const signed = new Set(notify.flatMap(({ name, secret }) => (secret === undefined ? [] : [name])));
  const hooks = fields["notify"];
  const masked = Array.isArray(hooks)
    ? {
        notify: hooks.map((hook: unknown) =>
          isRecord(hook) && !("secret" in hook) && signed.has(hook["name"])
            ? { ...hook, secret: MASK }
            : hook,
        ),
      }
    : {};
  const all = Object.entries({ ...masks(stored, "secrets"), ...given });
  return { ...fields, ...masked, secrets: Object.fromEntries(all.filter(([, value]) => value !== null)) };
}

function masks(stored: object | undefined, field: "env" | "headers" | "secrets"): Fields {
  const values = (stored as Fields | undefined)?.[field];
  if (!isRecord(values)) return {};
  const sealed = Object.entries(values).filter(([, value]) => typeof value === "object");
  return Object.fromEntries(sealed.map(([name]) => [name, MASK]));
}

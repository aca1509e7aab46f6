/**
 * Checks the input for an object and converts it to the stored form: schema, names, references, secrets.
 * Reports all problems and changes nothing.
 */
import { isDeepStrictEqual } from "node:util";
import { below, type FieldProblem, pointer } from "../kernel/field-problem.ts";
import { freeze } from "../kernel/freeze.ts";
import { isRecord } from "../kernel/is-record.ts";
import type { Steps } from "../kernel/steps.ts";
import type { LayerRegistry } from "../middleware/registry.ts";
import { depthProblems } from "./depth.ts";
import { movedSecrets } from "./moved-secrets.ts";
import { type Finder, nameProblems } from "./names.ts";
import { type ObjectKind, SETTINGS_NAME, type Specs, type StoredObject } from "./objects.ts";
import { named, present, READ_ONLY } from "./present.ts";
import { packageOf } from "./registry-packages.ts";
import type { SchemaCheck } from "./schema-check.ts";
import type { NamespaceFields, WebhookFields } from "./schemas.ts";
import { mapTexts, textsToStore } from "./secret-texts.ts";
import { mapSecrets, secretAt, secretToStore, type Vault } from "./secrets.ts";
import { canonical, sandboxProblems, serverProblems } from "./server-entry.ts";
import { mapRegistry, mapTests } from "./uses.ts";
import { webhooksToStore } from "./webhooks.ts";

/** Checks a layer with its options on an object of that kind. Paths in problems start at the layer. */
export type EntryCheck = (layer: { readonly use: string }, kind: ObjectKind) => readonly FieldProblem[];

/** Checks the order of a list of layers, or of a whole pipeline. */
export type LayerOrder = Pick<LayerRegistry, "answers" | "checkOrder">;

export interface Rules {
  readonly schemas: SchemaCheck;
  readonly vault: Vault;
  readonly layers: EntryCheck;
  readonly orderOfLayers?: LayerOrder;
}

export interface References<K extends ObjectKind> {
  /** The stored object; undefined for a new one. */
  readonly stored?: StoredObject<K> | undefined;
  readonly servers: Finder<{ readonly uuid: string; readonly spec: object }>;
  readonly namespaces: Finder<{ readonly uuid: string }>;
  readonly endpoints: Finder<{ readonly uuid: string }>;
}

export interface Accepted<K extends ObjectKind> {
  readonly name: string;
  readonly spec: Specs[K];
}

type Fields = Readonly<Record<string, unknown>>;

/** Pauses between layers. */
export function* accepting<K extends ObjectKind>(
  kind: K,
  input: unknown,
  known: References<K>,
  rules: Rules,
): Steps<Accepted<K> | readonly FieldProblem[]> {
  if (!isRecord(input)) return [{ path: "", message: "must be an object" }];
  const tooDeep = depthProblems(input);
  if (tooDeep.length > 0) return tooDeep;
  const { fields, problems } = writable(kind, input, known.stored);
  const checked = rules.schemas(kind, kind === "server" ? canonical(fields) : fields);
  if (!("value" in checked)) return [...problems, ...checked];
  const { name = SETTINGS_NAME, ...spec } = checked.value as Fields & { name?: string };
  const read = READERS[kind](name, spec, known as References<ObjectKind>, rules);
  const wrong = [
    ...problems,
    ...(named(kind) ? nameProblems(name) : []),
    ...(yield* checkingLayers(kind, spec, rules)),
    ...read.problems,
  ];
  return wrong.length > 0 ? wrong : { name, spec: freeze(read.spec) as Specs[K] };
}

/** The fields without read-only ones. `status` is ignored: it is shown, but not stored. */
function writable(kind: ObjectKind, input: Fields, stored: StoredObject | undefined) {
  const fields: Record<string, unknown> = { ...input };
  delete fields["status"];
  const current: Fields = stored ? present(stored) : {};
  const problems: FieldProblem[] = [];
  const readOnly = named(kind) ? READ_ONLY : [...READ_ONLY, "name"];
  for (const key of readOnly) {
    if (!Object.hasOwn(fields, key)) continue;
    if (!isDeepStrictEqual(fields[key], current[key] ?? (key === "name" ? SETTINGS_NAME : undefined)))
      problems.push({ path: `/${key}`, message: "is read-only" });
    delete fields[key];
  }
  return { fields, problems };
}

export function* checkingLayers(
  kind: ObjectKind,
  spec: Fields,
  { layers, orderOfLayers }: Rules,
): Steps<readonly FieldProblem[]> {
  const middleware = (spec["middleware"] ?? []) as readonly { readonly use: string }[];
  const problems: FieldProblem[] = [];
  for (const [at, layer] of middleware.entries()) {
    problems.push(...below(pointer("", "middleware", at), layers(freeze(layer), kind)));
    yield;
  }
  if (problems.length > 0) return problems;
  return (orderOfLayers?.checkOrder(middleware) ?? []).map(({ at, message }) => ({
    path: pointer("", "middleware", at),
    message,
  }));
}

interface ReadSpec {
  readonly spec: Fields;
  readonly problems: readonly FieldProblem[];
}
type Reader = (name: string, spec: Fields, known: References<ObjectKind>, rules: Rules) => ReadSpec;

const READERS: Readonly<Record<ObjectKind, Reader>> = {
  server: (name, spec, { stored }, { vault }) => {
    const problems: FieldProblem[] = [...serverProblems(name, spec)];
    // Invalid input is not sealed, because it is not stored.
    if (problems.length > 0) return { spec, problems };
    const sealed = withSecrets(spec, stored, vault, problems);
    const before = stored as StoredObject<"server"> | undefined;
    // A discreet caller may not change host or program at all, and is told so when the rights are checked.
    if (!vault.discreet) problems.push(...movedSecrets(spec, sealed, before));
    return { spec: withTexts(sealed, before, vault, problems), problems };
  },
  namespace: (_name, spec, { servers }) => {
    const fields = spec as unknown as NamespaceFields;
    const problems: FieldProblem[] = [];
    const named = resolver(servers, "server", problems);
    const entries = fields.servers.map((entry, at) => ({
      ...entry,
      server: named(entry.server, pointer("", "servers", at, "server")),
    }));
    const tools = fields.tools.map((entry, at) => ({
      ...entry,
      server: named(entry.server, pointer("", "tools", at, "server")),
    }));
    problems.push(
      ...repeated(entries, "/servers", (entry) => entry.server),
      ...repeated(tools, "/tools", ({ server, tool }) => JSON.stringify([server, tool])),
    );
    return { spec: { ...spec, servers: entries, tools }, problems };
  },
  endpoint: (_name, spec, { namespaces }) => {
    const problems: FieldProblem[] = [];
    const named = resolver(namespaces, "namespace", problems);
    const list = (spec["namespaces"] as readonly string[]).map((reference, at) =>
      named(reference, pointer("", "namespaces", at)),
    );
    problems.push(...repeated(list, "/namespaces", (uuid) => uuid));
    return { spec: { ...spec, namespaces: list }, problems };
  },
  settings: (_name, spec, known, { vault }) => {
    const { stored, endpoints } = known;
    const problems: FieldProblem[] = [];
    const named = resolver(endpoints, "endpoint", problems);
    const tests = mapTests(spec["tests"] as Specs["settings"]["tests"], (test, name) => ({
      ...test,
      endpoint: named(test.endpoint, pointer("", "tests", name, "endpoint")),
    }));
    const registry = registryOf(spec["registry"] as Specs["settings"]["registry"], known, problems);
    const before = (stored as StoredObject<"settings"> | undefined)?.spec.notify ?? [];
    const sent = spec["notify"] as readonly WebhookFields[] | undefined;
    const notify = sent && { notify: webhooksToStore(sent, before, vault, problems) };
    problems.push(...sandboxProblems(spec["sandbox"]));
    return {
      spec: withSecrets({ ...spec, ...tests, ...registry, ...notify }, stored, vault, problems),
      problems,
    };
  },
};

/** Only a server that others can run as a package can be listed. */
function registryOf(
  sent: Specs["settings"]["registry"],
  { endpoints, servers }: References<ObjectKind>,
  problems: FieldProblem[],
) {
  const finders = {
    endpoints: resolver(endpoints, "endpoint", problems),
    servers: resolver(servers, "server", problems),
  };
  const listed = mapRegistry(sent, (list, reference, at) => [
    finders[list](reference, pointer("", "registry", list, at)),
  ]);
  const { registry } = listed;
  for (const list of ["endpoints", "servers"] as const)
    problems.push(...repeated(registry?.[list] ?? [], `/registry/${list}`, (uuid) => uuid));
  for (const [at, uuid] of (registry?.servers ?? []).entries()) {
    const server = servers(uuid);
    const listable = server && packageOf(server.spec as Specs["server"]);
    if (typeof listable === "string")
      problems.push({ path: pointer("", "registry", "servers", at), message: listable });
  }
  return listed;
}

const MASKED = "is masked, but no value is stored: enter a value";

function withSecrets(
  spec: Fields,
  stored: StoredObject | undefined,
  vault: Vault,
  problems: FieldProblem[],
): Fields {
  return mapSecrets(spec, (sent, path) => {
    const secret = secretToStore(String(sent), secretAt(stored?.spec, path), vault);
    if (secret === undefined) problems.push({ path: pointer("", ...path), message: MASKED });
    return secret;
  });
}

/** Seals the arguments and the addresses that contain secrets. */
function withTexts(
  spec: Fields,
  stored: StoredObject<"server"> | undefined,
  vault: Vault,
  problems: FieldProblem[],
): Fields {
  const known = stored?.spec;
  const args = textsToStore((spec["args"] ?? []) as readonly string[], known?.args ?? [], vault);
  return mapTexts(spec, (sent, _previous, path) => {
    const [field, at] = path;
    const before = field === "args" ? undefined : known?.[field];
    const text =
      field === "args"
        ? args[Number(at)]
        : textsToStore([sent as string], before === undefined ? [] : [before], vault)[0];
    if (text === undefined) problems.push({ path: pointer("", ...path), message: MASKED });
    return text;
  });
}

function resolver(find: Finder<{ readonly uuid: string }>, kind: ObjectKind, problems: FieldProblem[]) {
  return (reference: string, path: string): string => {
    const found = find(reference);
    if (!found) problems.push({ path, message: `there is no ${kind} "${reference.slice(0, 128)}"` });
    return found?.uuid ?? reference;
  };
}

function repeated<T>(list: readonly T[], base: string, keyOf: (item: T) => string): readonly FieldProblem[] {
  const seen = new Set<string>();
  return list.flatMap((item, at) => {
    const key = keyOf(item);
    if (seen.has(key)) return [{ path: pointer(base, at), message: "appears twice: keep one" }];
    seen.add(key);
    return [];
  });
}

/**
 * Compiles the stored objects to one immutable value, from which requests are served. Compiles again only
 * what a change affects, and reports it.
 */
import { isDeepStrictEqual } from "node:util";
import type { EntryContext } from "../config/entry-context.ts";
import type { SecretRules } from "../config/secret-reference.ts";
import type { ServerSpec } from "../config/spec.ts";
import { perAccountOf } from "../config/user-values.ts";
import { STORED_SECRET } from "../config/variables.ts";
import { atOnce, type Steps } from "../kernel/steps.ts";
import { settingsOf } from "./changes.ts";
import type { Objects, StoredObject, StoredSecret } from "./objects.ts";
import { type NamespacePart, type PartServer, type PartsByKey, partsOf, withKnownRules } from "./part.ts";
import { opened, type Vault } from "./secrets.ts";
import { compileEntry } from "./server-entry.ts";

export interface CompiledServer {
  readonly object: StoredObject<"server">;
  /** The same spec as from an entry of a config file; undefined if the server cannot be used. */
  readonly spec: ServerSpec | undefined;
  /** Why it cannot be used. */
  readonly reason: string | undefined;
  readonly disabled: boolean;
}

export interface CompiledNamespace {
  readonly object: StoredObject<"namespace">;
  readonly parts: readonly NamespacePart[];
}

export interface CompiledEndpoint {
  readonly object: StoredObject<"endpoint">;
  readonly namespaces: readonly CompiledNamespace[];
  /**
   * One for each server. The first namespace with the server decides, even if the server is disabled there.
   */
  readonly parts: readonly PlacedPart[];
}

export interface PlacedPart {
  readonly part: NamespacePart;
  readonly namespace: CompiledNamespace;
}

export interface Compiled {
  readonly objects: Objects;
  readonly settings: StoredObject<"settings"> | undefined;
  /** By uuid. */
  readonly servers: ReadonlyMap<string, CompiledServer>;
  readonly namespaces: ReadonlyMap<string, CompiledNamespace>;
  readonly endpoints: ReadonlyMap<string, CompiledEndpoint>;
  /** Enabled endpoints by name, as in the URL. */
  readonly paths: ReadonlyMap<string, CompiledEndpoint>;
}

/** The uuids of the objects that were compiled. All other values are the same objects as before. */
export interface Work {
  readonly servers: readonly string[];
  readonly namespaces: readonly string[];
  readonly endpoints: readonly string[];
}

export interface CompileOptions {
  readonly entryContext: EntryContext;
  readonly vault: Pick<Vault, "open">;
}

type Compiling = readonly [objects: Objects, options: CompileOptions, before?: Compiled];

interface CompileOutcome {
  readonly compiled: Compiled;
  readonly work: Work;
}

export function compile(...given: Compiling): CompileOutcome {
  return atOnce(compiling(...given));
}

/** Pauses between objects. */
export function* compiling(...[objects, options, before]: Compiling): Steps<CompileOutcome> {
  const settings = settingsOf(objects);
  const context = contextIn(settings);
  const sameContext = isDeepStrictEqual(context, contextIn(before?.settings));
  const withSettings = { ...options, entryContext: contextWith(context, options) };
  const servers = yield* compilingAll(
    objects.server,
    before?.servers,
    (object) => compileServer(object, withSettings),
    () => sameContext,
  );
  const known = knownParts(before);
  const namespaces = yield* compilingAll(
    objects.namespace,
    before?.namespaces,
    (object, old) => compileNamespace(object, old, servers.all, known),
    ({ object }) => sameServers(object, servers.all, before?.servers),
  );
  // Endpoints with the same namespaces share their list of parts.
  const shared = new Map<string, readonly PlacedPart[]>();
  const endpoints = yield* compilingAll(
    objects.endpoint,
    before?.endpoints,
    (object) => compileEndpoint(object, namespaces.all, shared),
    (old) => old.namespaces.every((namespace) => namespaces.all.get(namespace.object.uuid) === namespace),
  );
  const compiled: Compiled = {
    objects,
    settings,
    servers: servers.all,
    namespaces: namespaces.all,
    endpoints: endpoints.all,
    paths: endpoints.all === before?.endpoints ? before.paths : pathsOf(endpoints.all),
  };
  return {
    compiled,
    work: { servers: servers.made, namespaces: namespaces.made, endpoints: endpoints.made },
  };
}

/** What of the settings counts for servers. */
interface ServerSettings {
  readonly secrets: Readonly<Record<string, StoredSecret>>;
  /** Nothing may be used that an administrator did not allow. */
  readonly secretRules: NonNullable<SecretRules>;
  readonly sandbox: EntryContext["sandbox"];
}

function contextIn(settings: StoredObject<"settings"> | undefined): ServerSettings {
  const { secrets = {}, secretSources = {}, sandbox } = settings?.spec ?? {};
  return { secrets, secretRules: secretSources, sandbox };
}

/** Adds the stored secrets to the variables, as `secret:NAME`. */
function contextWith(
  { secrets, ...rules }: ServerSettings,
  { entryContext, vault }: CompileOptions,
): EntryContext {
  const named = Object.entries(secrets).map(([name, secret]) => [
    STORED_SECRET + name,
    opened(secret, vault),
  ]);
  return { ...entryContext, ...rules, env: { ...entryContext.env, ...Object.fromEntries(named) } };
}

/** The uuids of the namespaces with this server, enabled there or not. */
export function namespacesWith(
  { namespaces }: Pick<Compiled, "namespaces">,
  server: string,
): readonly string[] {
  return [...namespaces.values()].flatMap(({ object, parts }) =>
    parts.some((part) => part.server === server) ? [object.uuid] : [],
  );
}

/** Returns the old map if nothing in it changed. */
function* compilingAll<O extends StoredObject, C extends { readonly object: O }>(
  objects: ReadonlyMap<string, O>,
  before: ReadonlyMap<string, C> | undefined,
  make: (object: O, old: C | undefined) => C,
  stillGood: (old: C) => boolean = () => true,
): Steps<{ readonly all: ReadonlyMap<string, C>; readonly made: readonly string[] }> {
  const made: string[] = [];
  const all = new Map<string, C>();
  for (const [uuid, object] of objects) {
    const old = before?.get(uuid);
    if (old?.object === object && stillGood(old)) all.set(uuid, old);
    else {
      made.push(uuid);
      all.set(uuid, make(object, old));
    }
    yield;
  }
  return { all: before && made.length === 0 && all.size === before.size ? before : all, made };
}

function compileServer(
  object: StoredObject<"server">,
  { entryContext, vault }: CompileOptions,
): CompiledServer {
  const { result } = compileEntry(object.name, object.spec, entryContext, vault);
  if (result === "disabled") return { object, spec: undefined, reason: "it is disabled", disabled: true };
  if (!("spec" in result)) return { object, spec: undefined, reason: result.reason, disabled: false };
  const perAccount = perAccountOf(result.spec, object.spec.credentials === "user");
  const spec = perAccount ? Object.freeze({ ...result.spec, perAccount }) : result.spec;
  return { object, spec, reason: undefined, disabled: false };
}

function compileNamespace(
  object: StoredObject<"namespace">,
  old: CompiledNamespace | undefined,
  servers: ReadonlyMap<string, CompiledServer>,
  known: PartsByKey,
): CompiledNamespace {
  const parts = partsOf(withKnownRules(object, old?.object), (uuid) => partServer(servers.get(uuid)), known);
  return { object, parts };
}

function partServer(server: CompiledServer | undefined): PartServer | undefined {
  if (!server) return undefined;
  const { uuid, name, spec } = server.object;
  return { uuid, name, prefix: spec.prefix ?? "server", usable: server.spec !== undefined };
}

/** Whether the servers of a namespace are the same as when its parts were made. */
function sameServers(
  { spec }: StoredObject<"namespace">,
  now: ReadonlyMap<string, CompiledServer>,
  before: ReadonlyMap<string, CompiledServer> | undefined,
): boolean {
  return spec.servers.every(({ server }) => {
    const [a, b] = [before?.get(server), now.get(server)];
    if (a === b) return true;
    const [was, is] = [partServer(a), partServer(b)];
    return was?.name === is?.name && was?.prefix === is?.prefix && was?.usable === is?.usable;
  });
}

function compileEndpoint(
  object: StoredObject<"endpoint">,
  all: ReadonlyMap<string, CompiledNamespace>,
  known: Map<string, readonly PlacedPart[]>,
): CompiledEndpoint {
  const namespaces = object.spec.namespaces.flatMap((uuid) => all.get(uuid) ?? []);
  const key = object.spec.namespaces.join();
  const parts = known.get(key) ?? firstParts(namespaces);
  known.set(key, parts);
  return { object, namespaces, parts };
}

function firstParts(namespaces: readonly CompiledNamespace[]): readonly PlacedPart[] {
  const parts = new Map<string, PlacedPart>();
  for (const namespace of namespaces)
    for (const part of namespace.parts)
      if (!parts.has(part.server)) parts.set(part.server, { part, namespace });
  return [...parts.values()];
}

function pathsOf(endpoints: ReadonlyMap<string, CompiledEndpoint>): ReadonlyMap<string, CompiledEndpoint> {
  const served = [...endpoints.values()].filter(({ object }) => !object.spec.disabled);
  return new Map(served.map((endpoint) => [endpoint.object.name, endpoint]));
}

function knownParts(before: Compiled | undefined): PartsByKey {
  const parts = [...(before?.namespaces.values() ?? [])].flatMap((namespace) => namespace.parts);
  return new Map(parts.map((part) => [part.key, part]));
}

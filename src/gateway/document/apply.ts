/**
 * Applies a document to the objects, completely or not at all. A diff is the same function without storing
 * the result.
 */

import { type FieldProblem, pointer } from "../../kernel/field-problem.ts";
import { isRecord } from "../../kernel/is-record.ts";
import type { ObjectReference } from "../../kernel/named-object.ts";
import { atOnce, type Steps } from "../../kernel/steps.ts";
import { accepting } from "../accept.ts";
import { settingsOf } from "../changes.ts";
import { afterApi, afterFile, BY_API, type Management, managed } from "../managed.ts";
import { type Finder, finderOf } from "../names.ts";
import { type ObjectKind, type Objects, SETTINGS_NAME, type Specs, type StoredObject } from "../objects.ts";
import { invalid } from "../refusal.ts";
import {
  type ChangeContext,
  type ChangeOutcome,
  type Draft,
  type Drafts,
  differences,
  draftsOf,
  settling,
} from "../settle.ts";
import { SECTIONS } from "./document.ts";
import { inputOf, MAX_PROBLEMS, readDocument, settingsPath, withStoredSecrets } from "./read-document.ts";

export interface ApplyOptions {
  /**
   * Remove objects that are not in the document: those of this source, or without a source those that no file
   * manages.
   */
  readonly prune?: boolean;
  /** The name of the file. Afterwards it manages the objects of the document. */
  readonly source?: string | undefined;
  readonly takeOver?: boolean;
}

export interface ApplyOutcome extends ChangeOutcome {
  /** Not changed, because the API took them over from this file. */
  readonly left: readonly ObjectReference[];
}

const NAMED_KINDS = ["server", "namespace", "endpoint"] as const;

type Applying = readonly [objects: Objects, document: unknown, options: ApplyOptions, context: ChangeContext];

export function applyDocument(...given: Applying): ApplyOutcome {
  return atOnce(applyingDocument(...given));
}

/** Pauses between objects. */
export function* applyingDocument(...[objects, document, options, context]: Applying): Steps<ApplyOutcome> {
  const { sections, settings } = readDocument(document);
  const application = new Application(objects, options, context);
  for (const kind of NAMED_KINDS)
    for (const [name, entry] of sections[kind]) {
      yield* application.take(kind, name, entry);
      if (application.isHopeless) return yield* application.finish();
      yield;
    }
  if (settings) yield* application.takeSettings(settings);
  return yield* application.finish();
}

/** The state while one document is applied. */
class Application {
  readonly #objects: Objects;
  readonly #options: ApplyOptions;
  readonly #context: ChangeContext;
  readonly #drafts: Drafts;
  readonly #problems: FieldProblem[] = [];
  readonly #seen = new Set<string>();
  readonly #left: Draft[] = [];
  readonly #byName: { readonly [K in ObjectKind]: Finder<StoredObject> };
  /** Finders for references, by kind. Created at the first lookup, when all objects of that kind exist. */
  readonly #finders = new Map<ObjectKind, Finder<Draft>>();

  constructor(objects: Objects, options: ApplyOptions, context: ChangeContext) {
    this.#objects = objects;
    this.#options = options;
    this.#context = context;
    this.#drafts = draftsOf(objects);
    this.#byName = {
      server: finderOf(objects.server),
      namespace: finderOf(objects.namespace),
      endpoint: finderOf(objects.endpoint),
      settings: finderOf(objects.settings),
    };
  }

  *take(kind: (typeof NAMED_KINDS)[number], name: string, entry: unknown): Steps<void> {
    const base = pointer("", SECTIONS[kind], name);
    const wrong = (path: string, message: string): void =>
      void this.#problems.push({ path: base + path, message });
    if (!isRecord(entry)) return wrong("", "must be an object");
    // Another name is an attempt to rename, which works only by uuid.
    if ((entry["name"] ?? name) !== name)
      return wrong("/name", `is "${name}" here: to rename it, give its uuid below the new name`);
    const stored = this.#match(kind, name, entry["uuid"]);
    if (entry["uuid"] !== undefined && !stored)
      return wrong("/uuid", `is not the uuid of a ${kind}: leave it out to create a new one`);
    if (stored && this.#seen.has(stored.uuid)) return wrong("", "is in the document twice: keep one");
    if (stored) this.#seen.add(stored.uuid);
    const { fields, pathOf } = inputOf(kind, name, entry, stored);
    const accepted = yield* accepting(kind, fields, this.#known(stored), this.#context);
    if ("spec" in accepted) this.#put(kind, accepted, stored);
    else for (const { path, message } of accepted) wrong(pathOf(path), message);
  }

  *takeSettings(fields: Readonly<Record<string, unknown>>): Steps<void> {
    const stored = settingsOf(this.#objects);
    const accepted = yield* accepting(
      "settings",
      withStoredSecrets(fields, stored?.spec),
      this.#known(stored),
      this.#context,
    );
    if ("spec" in accepted) this.#put("settings", { ...accepted, name: SETTINGS_NAME }, stored);
    else for (const { path, message } of accepted) this.#problems.push({ path: settingsPath(path), message });
  }

  get isHopeless(): boolean {
    return this.#problems.length >= MAX_PROBLEMS;
  }

  *finish(): Steps<ApplyOutcome> {
    if (this.#problems.length > 0) throw invalid(this.#problems);
    if (this.#options.prune) this.#prune();
    const outcome = yield* settling(this.#objects, this.#drafts, this.#context);
    return { ...outcome, left: this.#left.map(({ kind, name, uuid }) => ({ kind, name, uuid })) };
  }

  #match(kind: ObjectKind, name: string, uuid: unknown): StoredObject | undefined {
    if (uuid === undefined) return this.#byName[kind](name);
    return typeof uuid === "string" ? this.#objects[kind].get(uuid.toLowerCase()) : undefined;
  }

  #known<K extends ObjectKind>(stored: StoredObject | undefined) {
    const finder = (kind: ObjectKind): Finder<Draft> => {
      const made = this.#finders.get(kind) ?? finderOf(onlyOf(this.#drafts, kind));
      this.#finders.set(kind, made);
      return made;
    };
    return {
      stored: stored as StoredObject<K> | undefined,
      servers: (reference: string) => finder("server")(reference),
      namespaces: (reference: string) => finder("namespace")(reference),
      endpoints: (reference: string) => finder("endpoint")(reference),
    };
  }

  #put(
    kind: ObjectKind,
    { name, spec }: { name: string; spec: Specs[ObjectKind] },
    stored: StoredObject | undefined,
  ): void {
    const { source, takeOver = false } = this.#options;
    if (!stored) {
      const uuid = this.#context.newId();
      const by: Management = source === undefined ? BY_API : { managedBy: `file:${source}` };
      this.#seen.add(uuid);
      this.#drafts.set(uuid, { kind, uuid, name, spec, ...by });
      return;
    }
    const draft: Draft = { ...stored, name, spec: kind === "namespace" ? ordered(spec, stored) : spec };
    if (source === undefined) {
      if (differences(stored, draft).length > 0)
        this.#drafts.set(draft.uuid, managed(draft, afterApi(stored, takeOver)));
      return;
    }
    const management = afterFile(stored, source, takeOver);
    if (management === "left") this.#left.push(stored);
    else this.#drafts.set(draft.uuid, managed(draft, management));
  }

  #prune(): void {
    const { source } = this.#options;
    const owner = source === undefined ? "api" : `file:${source}`;
    for (const { kind, uuid, managedBy } of this.#drafts.values())
      if (kind !== "settings" && managedBy === owner && !this.#seen.has(uuid)) this.#drafts.delete(uuid);
  }
}

function onlyOf(drafts: Drafts, wanted: ObjectKind): ReadonlyMap<string, Draft> {
  return new Map([...drafts].filter(([, { kind }]) => kind === wanted));
}

/**
 * Lists of a namespace are objects in a document, without order. Existing entries keep their place, new ones
 * come last.
 */
function ordered(spec: Specs[ObjectKind], stored: StoredObject): Specs[ObjectKind] {
  const before = stored.spec as Specs["namespace"];
  const after = spec as Specs["namespace"];
  const toolKey = ({ server, tool }: { server: string; tool: string }): string =>
    JSON.stringify([server, tool]);
  return {
    ...after,
    servers: inOrderOf(before.servers, after.servers, ({ server }) => server),
    tools: inOrderOf(before.tools, after.tools, toolKey),
  };
}

function inOrderOf<T>(before: readonly T[], after: readonly T[], keyOf: (item: T) => string): readonly T[] {
  const places = new Map(before.map((item, at) => [keyOf(item), at]));
  const place = (item: T): number => places.get(keyOf(item)) ?? before.length;
  return after.toSorted((a, b) => place(a) - place(b));
}

/**
 * Changes of single objects, as pure functions from objects to objects and a list of changes. A dry run is
 * the same call.
 */

import { type FieldProblem, pointer } from "../kernel/field-problem.ts";
import { isRecord } from "../kernel/is-record.ts";
import type { Schema } from "../kernel/json-schema.ts";
import { atOnce, type Steps } from "../kernel/steps.ts";
import { type Accepted, accepting, type References } from "./accept.ts";
import { depthProblems } from "./depth.ts";
import { afterApi, BY_API, managed } from "./managed.ts";
import { mergePatch } from "./merge-patch.ts";
import { find, finderOf } from "./names.ts";
import type { ObjectKind, Objects, StoredObject } from "./objects.ts";
import { ifMatches, present, READ_ONLY } from "./present.ts";
import { invalid, Refusal } from "./refusal.ts";
import { SCHEMAS } from "./schemas.ts";
import { canonical } from "./server-entry.ts";
import {
  type ChangeContext,
  type ChangeOutcome,
  type Draft,
  differences,
  draftsOf,
  inUse,
  settle,
  settling,
} from "./settle.ts";
import { referencesOf, withoutReference } from "./uses.ts";

export interface ObjectOutcome<K extends ObjectKind = ObjectKind> extends ChangeOutcome {
  readonly object: StoredObject<K>;
}

export interface ChangeOptions {
  /** The value of an `If-Match` header. */
  readonly ifMatch?: string | undefined;
  /** Change the object although a file manages it. Afterwards the API manages it. */
  readonly takeOver?: boolean;
}

type Creating<K extends ObjectKind> = readonly [
  objects: Objects,
  kind: K,
  input: unknown,
  context: ChangeContext,
];

export function create<K extends Exclude<ObjectKind, "settings">>(...given: Creating<K>): ObjectOutcome<K> {
  return atOnce(creating(...given));
}

/** Pauses between layers and objects, as `patching` does. */
export function* creating<K extends Exclude<ObjectKind, "settings">>(
  ...[objects, kind, input, context]: Creating<K>
): Steps<ObjectOutcome<K>> {
  const accepted = orThrow(yield* accepting(kind, input, knownIn(objects), context));
  return yield* put(objects, { kind, uuid: context.newId(), ...accepted, ...BY_API }, context);
}

type Patching<K extends ObjectKind> = readonly [
  objects: Objects,
  /** `reference`: a uuid or a name. */
  at: { readonly kind: K; readonly reference: string } & ChangeOptions,
  change: unknown,
  context: ChangeContext,
];

export function patch<K extends ObjectKind>(...given: Patching<K>): ObjectOutcome<K> {
  return atOnce(patching(...given));
}

export function* patching<K extends ObjectKind>(
  ...[objects, { kind, reference, ...options }, change, context]: Patching<K>
): Steps<ObjectOutcome<K>> {
  const stored = kind === "settings" ? settingsOf(objects) : find(objects[kind], reference);
  if (!stored && kind !== "settings") throw notFound(kind, reference);
  const tooDeep = depthProblems(change);
  if (tooDeep.length > 0) throw invalid(tooDeep);
  if (!isRecord(change)) throw invalid([{ path: "", message: "must be an object" }]);
  refuseStale(stored, options);
  const written = kind === "server" ? canonical(change) : change;
  const unknown = unknownNulls(SCHEMAS[kind], written);
  if (unknown.length > 0) throw invalid(unknown);
  const input = mergePatch(stored ? present<ObjectKind>(stored) : {}, written);
  const known = { ...knownIn(objects), stored: stored as StoredObject<K> | undefined };
  const accepted = orThrow(yield* accepting(kind, input, known, context));
  if (!stored) return yield* put(objects, { kind, uuid: context.newId(), ...accepted, ...BY_API }, context);
  const draft: Draft = { ...stored, ...accepted };
  const { takeOver = false } = options;
  // Sending back the same values is no change, so it is allowed even if a file manages the object.
  if (!takeOver && differences(stored, draft).length === 0)
    return { objects, changes: [], object: stored as never };
  return yield* put(objects, managed(draft, afterApi(stored, takeOver)), context);
}

export function remove(
  objects: Objects,
  {
    kind,
    reference,
    force = false,
    ...options
  }: { kind: Exclude<ObjectKind, "settings">; reference: string; force?: boolean } & ChangeOptions,
  context: ChangeContext,
): ChangeOutcome {
  const stored = find(objects[kind], reference);
  if (!stored) throw notFound(kind, reference);
  refuseStale(stored, options);
  const { takeOver = false } = options;
  afterApi(stored, takeOver);
  const drafts = draftsOf(objects);
  const users = [...drafts.values()].filter((draft) => referencesOf(draft).has(stored.uuid));
  if (users.length > 0 && !force) throw inUse(stored, users);
  for (const user of users)
    drafts.set(user.uuid, managed(withoutReference(user, stored.uuid), afterApi(user, takeOver)));
  drafts.delete(stored.uuid);
  return settle(objects, drafts, context);
}

export function settingsOf(objects: Objects): StoredObject<"settings"> | undefined {
  return objects.settings.values().next().value;
}

/** Finds the objects that input can refer to. */
export function knownIn(objects: Objects): Omit<References<ObjectKind>, "stored"> {
  return {
    servers: finderOf(objects.server),
    namespaces: finderOf(objects.namespace),
    endpoints: finderOf(objects.endpoint),
  };
}

export function orThrow<K extends ObjectKind>(accepted: Accepted<K> | readonly FieldProblem[]): Accepted<K> {
  if ("spec" in accepted) return accepted;
  throw invalid(accepted);
}

function* put<K extends ObjectKind>(
  objects: Objects,
  draft: Draft,
  context: ChangeContext,
): Steps<ObjectOutcome<K>> {
  const outcome = yield* settling(objects, draftsOf(objects).set(draft.uuid, draft), context);
  return { ...outcome, object: outcome.objects[draft.kind].get(draft.uuid) as unknown as StoredObject<K> };
}

/**
 * Finds misspelt names of fields, at any depth, whose value is null. A null removes a field, so the schema
 * check would never see these names.
 */
function unknownNulls(schema: Schema, change: unknown, base = ""): readonly FieldProblem[] {
  const choices = [schema, ...((schema["anyOf"] ?? []) as readonly Schema[])];
  const properties = choices.find((one) => one["additionalProperties"] === false)?.["properties"];
  if (!properties || !isRecord(change)) return [];
  return Object.entries(change).flatMap(([key, value]) => {
    const path = pointer(base, key);
    if (Object.hasOwn(properties, key))
      return unknownNulls((properties as Readonly<Record<string, Schema>>)[key] as Schema, value, path);
    if (value !== null || path === "/status") return [];
    const readOnly = READ_ONLY.some((field) => path === `/${field}`);
    return [{ path, message: readOnly ? "is read-only" : "is unknown" }];
  });
}

function notFound(kind: ObjectKind, reference: string): Refusal {
  return new Refusal("not_found", `There is no ${kind} "${reference.slice(0, 128)}"`);
}

function refuseStale(stored: StoredObject | undefined, { ifMatch }: ChangeOptions): void {
  if (ifMatch === undefined || ifMatches(ifMatch, stored?.revision ?? 0)) return;
  const details = stored ? { current: present(stored) } : {};
  throw new Refusal("stale", "It was changed by somebody else: read it again and repeat the change", details);
}

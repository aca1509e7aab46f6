/**
 * The last step of every change: checks all objects together, sets revision and times of changed ones, and
 * lists the changes. Equal objects stay the same objects.
 */
import { isDeepStrictEqual } from "node:util";
import type { FieldProblem } from "../kernel/field-problem.ts";
import { freeze } from "../kernel/freeze.ts";
import { atOnce, type Steps } from "../kernel/steps.ts";
import { checkingLayers, type Rules } from "./accept.ts";
import { type ListedTools, refuseCollisions } from "./collisions.ts";
import { orderProblems } from "./layer-order.ts";
import { nameKey } from "./names.ts";
import { allObjects, KINDS, type ObjectKind, type Objects, objectsOf, type StoredObject } from "./objects.ts";
import { invalid, Refusal } from "./refusal.ts";
import { referencesOf } from "./uses.ts";

/** All kinds together. A document with as many can be applied in one request. */
const MAX_OBJECTS = 10_000;

/** The inputs of a change beside the objects: time, ids, rules, and the tools that children list. */
export interface ChangeContext extends Rules {
  /** ISO 8601. */
  readonly at: string;
  /** The number of the revision that the change would become. */
  readonly revision: number;
  readonly newId: () => string;
  readonly listed?: ListedTools;
}

/** A change of one object. */
export interface ChangeRow {
  readonly op: "create" | "update" | "delete";
  readonly kind: ObjectKind;
  readonly name: string;
  readonly uuid: string;
  /** For an update: the changed fields. */
  readonly fields?: readonly string[];
}

export interface ChangeOutcome {
  /** Identical to the input if nothing changed. */
  readonly objects: Objects;
  readonly changes: readonly ChangeRow[];
}

/** An object without revision and times, before it is stored. */
export type Draft = Omit<StoredObject, "revision" | "createdAt" | "updatedAt"> &
  Partial<Pick<StoredObject, "createdAt">>;

/** All kinds, by uuid. */
export type Drafts = Map<string, Draft>;

export function draftsOf(objects: Objects): Drafts {
  return new Map(KINDS.flatMap((kind) => [...objects[kind]] as [string, Draft][]));
}

type Settling = readonly [before: Objects, drafts: ReadonlyMap<string, Draft>, context: ChangeContext];

export function settle(...given: Settling): ChangeOutcome {
  return atOnce(settling(...given));
}

/** Pauses between objects. */
export function* settling(...[before, drafts, context]: Settling): Steps<ChangeOutcome> {
  refuseManyObjects(drafts.size, allObjects(before).length);
  refuseSameNames(drafts);
  refuseMissing(before, drafts);
  const list: StoredObject[] = [];
  for (const draft of drafts.values()) {
    const old = before[draft.kind].get(draft.uuid) as StoredObject | undefined;
    if (old && differences(old, draft).length === 0) list.push(old);
    else {
      if (draft.kind === "namespace")
        refuseCollisions(draft as never, old as never, context.listed ?? (() => undefined));
      list.push(stamped(draft, old, context));
    }
    yield;
  }
  const after = reuseMaps(before, objectsOf(list));
  const changes = yield* comparing(before, after);
  yield* refusingLayers(before, after, context);
  return { objects: changes.length === 0 ? before : after, changes };
}

/**
 * Checks the layers of changed objects. A rollback needs this too: the layer may be gone, or the order may be
 * invalid together with other objects.
 */
function* refusingLayers(before: Objects, after: Objects, context: ChangeContext): Steps<void> {
  const changed = allObjects(after).filter((object) => before[object.kind].get(object.uuid) !== object);
  const wrong: FieldProblem[] = [];
  for (const { kind, spec } of changed) {
    wrong.push(...(yield* checkingLayers(kind, { ...spec }, context)));
    yield;
  }
  const order = context.orderOfLayers;
  const problems = wrong.length > 0 || !order || changed.length === 0 ? wrong : orderProblems(after, order);
  if (problems.length > 0) throw invalid(problems);
}

/** The changes from one state to the other. */
export function changesBetween(before: Objects, after: Objects): readonly ChangeRow[] {
  return atOnce(comparing(before, after));
}

/** Pauses between objects. */
export function* comparing(before: Objects, after: Objects): Steps<readonly ChangeRow[]> {
  const changes: ChangeRow[] = [];
  for (const object of allObjects(after)) {
    const { kind, name, uuid } = object;
    const old = before[kind].get(uuid) as StoredObject | undefined;
    const fields = old ? differences(old, object) : [];
    if (!old) changes.push({ op: "create", kind, name, uuid });
    else if (fields.length > 0) changes.push({ op: "update", kind, name, uuid, fields });
    yield;
  }
  const gone = allObjects(before).filter(({ kind, uuid }) => !after[kind].has(uuid));
  return [...changes, ...gone.map(({ kind, name, uuid }) => ({ op: "delete" as const, kind, name, uuid }))];
}

function stamped(draft: Draft, old: StoredObject | undefined, context: ChangeContext): StoredObject {
  const { kind, uuid, name, spec, managedBy, takenFrom, createdAt } = draft;
  const { at, revision } = context;
  return freeze({
    kind,
    uuid,
    name,
    spec,
    managedBy,
    ...(takenFrom === undefined ? {} : { takenFrom }),
    revision,
    createdAt: old?.createdAt ?? createdAt ?? at,
    updatedAt: at,
  });
}

/** Reuses the maps of kinds without changes. */
function reuseMaps(before: Objects, after: Objects): Objects {
  const same = (kind: ObjectKind): boolean =>
    before[kind].size === after[kind].size &&
    [...after[kind]].every(([uuid, object]) => before[kind].get(uuid) === object);
  return Object.fromEntries(KINDS.map((kind) => [kind, same(kind) ? before[kind] : after[kind]])) as never;
}

/** The names of the fields that differ, including `name` and `managedBy`. */
export function differences(old: Draft, draft: Draft): readonly string[] {
  if (old === draft) return [];
  const [a, b] = [fieldsOf(old), fieldsOf(draft)];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].filter((key) => !isDeepStrictEqual(a[key], b[key]));
}

function fieldsOf({ name, spec, managedBy, takenFrom }: Draft): Record<string, unknown> {
  return { name, ...spec, managedBy: [managedBy, takenFrom] };
}

function refuseManyObjects(count: number, before: number): void {
  if (count <= MAX_OBJECTS || count <= before) return;
  throw new Refusal("too_many", `A gateway has at most ${MAX_OBJECTS} objects; this would make ${count}`);
}

function refuseSameNames(drafts: ReadonlyMap<string, Draft>): void {
  const taken = new Map<string, Draft>();
  for (const draft of drafts.values()) {
    const key = `${draft.kind} ${nameKey(draft.name)}`;
    const other = taken.get(key);
    if (other) {
      const message = `Another ${draft.kind} has the name "${other.name}": choose another name`;
      const errors = [{ path: "/name", message: "is taken" }];
      throw new Refusal("name_taken", message, { errors, objects: [briefly(other)] });
    }
    taken.set(key, draft);
  }
}

/**
 * Refuses references to removed objects. Input was already checked, so a missing object was removed by this
 * change.
 */
function refuseMissing(before: Objects, drafts: ReadonlyMap<string, Draft>): void {
  const users = new Map<string, Draft[]>();
  for (const draft of drafts.values())
    for (const uuid of referencesOf(draft))
      if (!drafts.has(uuid)) users.set(uuid, [...(users.get(uuid) ?? []), draft]);
  const [missing] = users;
  if (!missing) return;
  const [uuid, by] = missing;
  const used = before.server.get(uuid) ?? before.namespace.get(uuid) ?? before.endpoint.get(uuid);
  throw inUse(used ?? { kind: "server", uuid, name: uuid }, by);
}

type Brief = Pick<StoredObject, "kind" | "uuid" | "name">;

export function inUse(used: Brief, by: readonly Brief[]): Refusal {
  const who = by.map(({ kind, name }) => `${kind} "${name}"`).join(", ");
  return new Refusal(
    "in_use",
    `The ${used.kind} "${used.name}" is used by ${who}: remove it there first, or use force=true`,
    { objects: by.map(briefly) },
  );
}

function briefly({ kind, uuid, name }: Brief): Brief {
  return { kind, uuid, name };
}

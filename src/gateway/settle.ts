/** The last step of every change: checks all objects together, sets revision and times of changed ones, and lists the changes. Equal objects stay the same objects. */
import { isDeepStrictEqual } from "node:util";
import { freeze } from "../kernel/freeze.ts";
import { layerProblems, type Rules } from "./accept.ts";
import { type ListedTools, refuseCollisions } from "./collisions.ts";
import { orderProblems } from "./layer-order.ts";
import { nameKey } from "./names.ts";
import { allObjects, KINDS, type ObjectKind, type Objects, objectsOf, type StoredObject } from "./objects.ts";
import { invalid, Refusal } from "./refusal.ts";
import { referencesOf } from "./uses.ts";

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

export function settle(
  before: Objects,
  drafts: ReadonlyMap<string, Draft>,
  context: ChangeContext,
): ChangeOutcome {
  refuseSameNames(drafts);
  refuseMissing(before, drafts);
  const list = [...drafts.values()].map((draft) => {
    const old = before[draft.kind].get(draft.uuid) as StoredObject | undefined;
    if (old && differences(old, draft).length === 0) return old;
    if (draft.kind === "namespace")
      refuseCollisions(draft as never, old as never, context.listed ?? (() => undefined));
    return stamped(draft, old, context);
  });
  const after = reuseMaps(before, objectsOf(list));
  const changes = changesBetween(before, after);
  refuseLayers(before, after, context);
  return { objects: changes.length === 0 ? before : after, changes };
}

/** Checks the layers of changed objects. A rollback needs this too: the layer may be gone, or the order may be invalid together with other objects. */
function refuseLayers(before: Objects, after: Objects, context: ChangeContext): void {
  const changed = allObjects(after).filter((object) => before[object.kind].get(object.uuid) !== object);
  const wrong = changed.flatMap(({ kind, spec }) => layerProblems(kind, { ...spec }, context));
  const order = context.orderOfLayers;
  const problems = wrong.length > 0 || !order || changed.length === 0 ? wrong : orderProblems(after, order);
  if (problems.length > 0) throw invalid(problems);
}

/** The changes from one state to the other. */
export function changesBetween(before: Objects, after: Objects): readonly ChangeRow[] {
  const changed = allObjects(after).flatMap((object): readonly ChangeRow[] => {
    const { kind, name, uuid } = object;
    const old = before[kind].get(uuid) as StoredObject | undefined;
    if (!old) return [{ op: "create", kind, name, uuid }];
    const fields = differences(old, object);
    return fields.length > 0 ? [{ op: "update", kind, name, uuid, fields }] : [];
  });
  const gone = allObjects(before).filter(({ kind, uuid }) => !after[kind].has(uuid));
  return [...changed, ...gone.map(({ kind, name, uuid }) => ({ op: "delete" as const, kind, name, uuid }))];
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

/** Refuses references to removed objects. Input was already checked, so a missing object was removed by this change. */
function refuseMissing(before: Objects, drafts: ReadonlyMap<string, Draft>): void {
  const users = new Map<string, Draft[]>();
  for (const draft of drafts.values())
    for (const uuid of referencesOf(draft))
      if (!drafts.has(uuid)) users.set(uuid, [...(users.get(uuid) ?? []), draft]);
  const [missing] = users;
  if (!missing) return;
  const [uuid, by] = missing;
  const used = before.server.get(uuid) ?? before.namespace.get(uuid);
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

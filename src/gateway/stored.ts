/** Between the objects here and what a store keeps of them. */
import { nameKey } from "./names.ts";
import { allObjects, KINDS, type ObjectKind, type Objects, objectsOf, type StoredObject } from "./objects.ts";

/** What a store is to write: an object without the stamps that the store gives. */
export type NewObject = Omit<StoredObject, "revision" | "createdAt" | "updatedAt"> & {
  readonly nameKey: string;
};

export interface Writes {
  readonly put: readonly NewObject[];
  /** Uuids. */
  readonly remove: readonly string[];
}

/** What leads from the one to the other. */
export function writesBetween(before: Objects, after: Objects): Writes {
  const put = allObjects(after)
    .filter((object) => before[object.kind].get(object.uuid) !== object)
    .map(({ revision: _r, createdAt: _c, updatedAt: _u, ...object }) => ({
      ...object,
      nameKey: nameKey(object.name),
    }));
  const gone = allObjects(before).filter(({ kind, uuid }) => !after[kind].has(uuid));
  return { put, remove: gone.map(({ uuid }) => uuid) };
}

/** As a store gives it: kinds that are not ours among them. */
export interface StoreRow extends Omit<StoredObject, "kind" | "spec"> {
  readonly kind: string;
  readonly spec: unknown;
}

export function readObjects(list: Iterable<StoreRow>, before?: Objects): Objects {
  const ours = [...list].filter(({ kind }) => KINDS.includes(kind as ObjectKind));
  return objectsOf(
    ours.map(({ kind, uuid, name, spec, managedBy, takenFrom, revision, createdAt, updatedAt }) => ({
      kind: kind as ObjectKind,
      uuid,
      name,
      spec: spec as StoredObject["spec"],
      managedBy,
      ...(takenFrom === undefined ? {} : { takenFrom }),
      revision,
      createdAt,
      updatedAt,
    })),
    before,
  );
}

/** Converts between objects and the rows of the store. */
import { nameKey } from "./names.ts";
import { allObjects, KINDS, type ObjectKind, type Objects, objectsOf, type StoredObject } from "./objects.ts";

export interface Writes {
  /** Without the revision and times, which the store sets. */
  readonly put: readonly (Omit<StoredObject, "revision" | "createdAt" | "updatedAt"> & {
    readonly nameKey: string;
  })[];
  /** Uuids. */
  readonly remove: readonly string[];
}

/** The writes that change `before` to `after`. */
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

/** A row as the store returns it. It may be of another kind. */
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

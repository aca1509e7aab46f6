/** Comparison of names, and lookup of objects by uuid or name. */

import type { FieldProblem } from "../kernel/field-problem.ts";
import type { ObjectKind, ObjectsOf, StoredObject } from "./objects.ts";
import { isUuid } from "./uuid.ts";

/** The same key for equal names: names are compared in NFC and without case. */
export function nameKey(name: string): string {
  return name.normalize("NFC").toLowerCase().normalize("NFC");
}

/** Checks of a name that the schema cannot express. */
export function nameProblems(name: string): readonly FieldProblem[] {
  if (name.trim() === "") return [{ path: "/name", message: "is blank: give it a name" }];
  // References can be uuids or names, so a name must not look like a uuid.
  if (isUuid(name)) return [{ path: "/name", message: "looks like a uuid: give it another name" }];
  return [];
}

/** Finds by uuid or by name. */
export type Finder<T> = (reference: string) => T | undefined;

type Known = Pick<StoredObject, "uuid" | "name">;

/** Builds the table of names on the first lookup by name, for many references. */
export function finderOf<T extends Known>(objects: ReadonlyMap<string, T>): Finder<T> {
  let byName: ReadonlyMap<string, T> | undefined;
  return (reference) => {
    const found = objects.get(reference.toLowerCase());
    if (found) return found;
    byName ??= new Map([...objects.values()].map((object) => [nameKey(object.name), object]));
    return byName.get(nameKey(reference));
  };
}

export function find<K extends ObjectKind>(
  objects: ObjectsOf<K>,
  reference: string,
): StoredObject<K> | undefined {
  return finderOf(objects)(reference);
}

/** When two names are the same, and which object a reference means. */
import type { ObjectKind, ObjectsOf, StoredObject } from "./objects.ts";
import type { FieldProblem } from "./refusal.ts";
import { isUuid } from "./uuid.ts";

/** The same for names that count as equal: composed (NFC), and without regard to case. */
export function nameKey(name: string): string {
  return name.normalize("NFC").toLowerCase().normalize("NFC");
}

/** What a schema cannot say of a name. */
export function nameProblems(name: string): readonly FieldProblem[] {
  if (name.trim() === "") return [{ path: "/name", message: "is blank: give it a name" }];
  // A reference is a uuid or a name: nothing may be both.
  if (isUuid(name)) return [{ path: "/name", message: "looks like a uuid: give it another name" }];
  return [];
}

/** Finds by uuid or by name. */
export type Finder<T> = (reference: string) => T | undefined;

type Known = Pick<StoredObject, "uuid" | "name">;

/** For many references: names are looked up in a table that is made once. */
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

/** Who may change an object: the API or one file. Changing an object of the other needs `takeOver`. */
import type { StoredObject } from "./objects.ts";
import { Refusal } from "./refusal.ts";

type Managed = Pick<StoredObject, "kind" | "uuid" | "name" | "managedBy" | "takenFrom">;
export type Management = { readonly managedBy: string; readonly takenFrom?: string };

export const BY_API: Management = { managedBy: "api" };

/** Who manages an object after the API changed it. Throws if a file manages it and `takeOver` is false. */
export function afterApi(object: Managed, takeOver: boolean): Management {
  const { managedBy, takenFrom } = object;
  if (managedBy === "api") return takenFrom === undefined ? BY_API : { managedBy, takenFrom };
  if (!takeOver) throw managedElsewhere(object);
  return { managedBy: "api", takenFrom: managedBy };
}

/**
 * Who manages an object after the file was applied. "left": the API took it over from this file, so the file
 * must not change it.
 */
export function afterFile(object: Managed, source: string, takeOver: boolean): Management | "left" {
  const file = `file:${source}`;
  const { managedBy, takenFrom } = object;
  if (managedBy === file || takeOver) return { managedBy: file };
  if (managedBy === "api") return takenFrom === file ? "left" : { managedBy: file };
  throw managedElsewhere(object);
}

function managedElsewhere({ kind, uuid, name, managedBy }: Managed): Refusal {
  const file = managedBy.replace(/^file:/, "");
  return new Refusal(
    "managed",
    `The ${kind} "${name}" is managed by the file ${file}: change it in the file, or use takeOver=true`,
    { objects: [{ kind, uuid, name }] },
  );
}

/** Replaces the management of an object. An old `takenFrom` must not remain. */
export function managed<T extends Managed>(object: T, { managedBy, takenFrom }: Management): T {
  const { takenFrom: _, ...rest } = object;
  return { ...rest, managedBy, ...(takenFrom === undefined ? {} : { takenFrom }) } as T;
}

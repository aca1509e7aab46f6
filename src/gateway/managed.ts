/** Who may change an object: the API what no file manages, a file what it manages itself. Taking over must be said. */
import type { StoredObject } from "./objects.ts";
import { Refusal } from "./refusal.ts";

type Managed = Pick<StoredObject, "kind" | "uuid" | "name" | "managedBy" | "takenFrom">;
export type Management = { readonly managedBy: string; readonly takenFrom?: string };

export const BY_API: Management = { managedBy: "api" };

/** How an object is managed after the API changed it. Throws where a file manages it. */
export function afterApi(object: Managed, takeOver: boolean): Management {
  const { managedBy, takenFrom } = object;
  if (managedBy === "api") return takenFrom === undefined ? BY_API : { managedBy, takenFrom };
  if (!takeOver) throw managedElsewhere(object);
  return { managedBy: "api", takenFrom: managedBy };
}

/** How it is managed after a file with that name was applied; "left" where the API took it over from this very file. */
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

/** Without the management it has so far: `takenFrom` must not stay behind. */
export function managed<T extends Managed>(object: T, { managedBy, takenFrom }: Management): T {
  const { takenFrom: _, ...rest } = object;
  return { ...rest, managedBy, ...(takenFrom === undefined ? {} : { takenFrom }) } as T;
}

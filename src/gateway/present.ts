/** An object as the API shows it: secrets masked, references as uuids. What is shown can be sent back as it is. */
import type { ObjectKind, StoredObject } from "./objects.ts";
import { mapSecrets, shown } from "./secrets.ts";

/** StoreRow by the gateway itself: sent back, they must be as they are. */
export const READ_ONLY = ["uuid", "createdAt", "updatedAt", "revision", "managedBy"] as const;

export function present(object: StoredObject): Readonly<Record<string, unknown>> {
  const { kind, uuid, name, spec, managedBy, revision, createdAt, updatedAt } = object;
  const fields = kind === "server" ? mapSecrets({ ...spec }, (secret) => shown(secret as never)) : spec;
  return { uuid, ...(named(kind) ? { name } : {}), ...fields, managedBy, revision, createdAt, updatedAt };
}

/** There is only one object of settings: it needs no name. */
export function named(kind: ObjectKind): boolean {
  return kind !== "settings";
}

/** The value of the `ETag` header. */
export function etagOf({ revision }: Pick<StoredObject, "revision">): string {
  return `"${revision}"`;
}

/** Whether an `If-Match` header allows a change of this revision. */
export function ifMatches(header: string, revision: number): boolean {
  const tags = header.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.some((tag) => tag === "*" || tag === `"${revision}"` || tag === String(revision));
}

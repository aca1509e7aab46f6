/**
 * Objects in the form of the API: secrets masked, references as uuids. The form can be sent back unchanged.
 */
import type { Static } from "../kernel/json-schema.ts";
import type { ObjectKind, Specs, StoredObject } from "./objects.ts";
import type { SCHEMAS } from "./schemas.ts";
import { mapTexts, shownText } from "./secret-texts.ts";
import { mapSecrets, shown } from "./secrets.ts";
import { shownWebhooks } from "./webhooks.ts";

/** Fields that only the gateway sets. A client may send them back, but only unchanged. */
export const READ_ONLY = ["uuid", "createdAt", "updatedAt", "revision", "managedBy"] as const;

type Presented<K extends ObjectKind> = Static<(typeof SCHEMAS)[K]> &
  Pick<StoredObject, (typeof READ_ONLY)[number]>;

export function present<K extends ObjectKind>(object: StoredObject<K>): Presented<K> {
  const { kind, uuid, name, spec, managedBy, revision, createdAt, updatedAt } = object;
  const masked = mapSecrets({ ...spec }, (secret) => shown(secret as never));
  const fields =
    kind === "server"
      ? mapTexts(masked, shownText)
      : kind === "settings"
        ? withWebhooks(masked, spec as Specs["settings"])
        : spec;
  const stamps = { managedBy, revision, createdAt, updatedAt };
  return { uuid, ...(named(kind) ? { name } : {}), ...fields, ...stamps } as unknown as Presented<K>;
}

/** Whether objects of this kind have a name. There is only one object of kind `settings`. */
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

function withWebhooks(masked: object, { notify }: Specs["settings"]): object {
  return notify ? { ...masked, notify: shownWebhooks(notify) } : masked;
}

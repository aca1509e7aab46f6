/** Objects of a gateway as others refer to them. */
import { extended, object, type Static, TEXT, UUID } from "./json-schema.ts";

export const NAMED_OBJECT = object({ uuid: UUID, name: TEXT });
export type NamedObject = Static<typeof NAMED_OBJECT>;

export const OBJECT_REFERENCE = extended(NAMED_OBJECT, { kind: TEXT });
export type ObjectReference = Static<typeof OBJECT_REFERENCE>;

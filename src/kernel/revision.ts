/** One change of the config of a gateway. */
import { COUNT, DATE, named, object, type Static, TEXT } from "./json-schema.ts";
import { ACTOR } from "./principal.ts";

export const REVISION = named("Revision", object({ n: COUNT, at: DATE, who: ACTOR, summary: TEXT }));
export type Revision = Static<typeof REVISION>;

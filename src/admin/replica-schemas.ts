/** The schemas of what is gathered from all replicas. */
import { CONNECTION } from "../gateway/control.ts";
import { extended, list, named, object, type Static, TEXT } from "../kernel/json-schema.ts";

export const MISSING = {
  ...list(object({ replica: TEXT, why: { enum: ["silent", "unknown"] } })),
  description:
    "replicas that are missing in the answer. silent: it did not answer within a second; unknown: its version does not answer this",
} as const;
export type Missing = Static<typeof MISSING>;

const REPLICA_STATUS = object(
  { replica: TEXT },
  { ...CONNECTION.properties, missing: MISSING.items.properties.why },
);

export const SERVER_STATUS = named(
  "ServerStatus",
  extended(
    CONNECTION,
    {},
    {
      replicas: {
        ...list(REPLICA_STATUS),
        description:
          "the state at each replica, if there may be several. The state above is then that of the replica that is best off, and instances counts all processes",
      },
    },
  ),
);
export type ServerStatus = Static<typeof SERVER_STATUS>;

/** A connected client for the admin API. Its session is identified only by a hash. */
import { COUNT, DATE, list, named, object, type Static, TEXT } from "../../kernel/json-schema.ts";
import { CALLER } from "../../kernel/principal.ts";
import { CLIENT, NAMED } from "../call-schema.ts";

export const CLIENT_SESSION = named(
  "ClientSession",
  object(
    {
      id: { ...TEXT, description: "a hash, because the id itself gives access to the session" },
      endpoint: NAMED,
      principal: CALLER,
      since: DATE,
      lastSeen: DATE,
      calls: COUNT,
      servers: {
        ...list(NAMED),
        description: "servers it has an open connection to, its own or shared",
      },
    },
    {
      client: CLIENT,
      protocolVersion: TEXT,
      replica: { ...TEXT, description: "the replica that has it, if there may be several" },
    },
  ),
);
export type ClientSession = Static<typeof CLIENT_SESSION>;

export interface SessionControl {
  list(): readonly ClientSession[];
  /** Sessions per endpoint, by uuid. */
  counts(): ReadonlyMap<string, number>;
  /** Returns false if there is no such session. */
  end(id: string): boolean;
}

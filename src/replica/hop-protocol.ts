/** What replicas say to each other on the internal listener: paths, headers, statuses, versions. */

/** The path for the connection on which requests are passed on. */
export const FORWARD = "/forward";
/** The protocol that the connection changes to. */
export const PROTOCOL = "metamcp-hop";
/** The version of it. A replica that knows another version refuses. */
export const HOP = "metamcp-replica-hop";
export const HOP_VERSION = "2";
/** The status of that refusal. It has the same header. */
export const OTHER_VERSION = 501;

/** An idle connection that leads nowhere any more is noticed by this, not by the next request. */
export const KEEP_ALIVE_MS = 5_000;

/** Headers between replicas. Those of a client are not passed on. */
export const FROM = "metamcp-replica-from";
export const TO = "metamcp-replica-to";
/** The status of an answer of another replica than `TO` says, or of one that does not have the session. */
export const MISDIRECTED = 421;
/** In an answer of a replica that does not have the session: who has it. */
export const OWNER = "metamcp-replica-owner";

/** The option `by` of limits: each combination of the named values has a count of its own. */
import type { Call, Origin } from "../kernel/call.ts";

const FIELDS = ["key", "user", "session", "endpoint", "server", "tool"] as const;
export type CountBy = (typeof FIELDS)[number];

export const COUNT_BY = {
  anyOf: [{ enum: FIELDS }, { type: "array", items: { enum: FIELDS }, minItems: 1, uniqueItems: true }],
  default: "user",
  description: `one of ${FIELDS.join(", ")}, or a list of them. user: a person, with all their keys; a key without an owner counts for itself`,
} as const;

/** The option `required` of limits. */
export const REQUIRED = {
  type: "boolean",
  description:
    "With several replicas: refuse calls while the database is away, instead of allowing each replica its share",
} as const;

/** Returns the key under which a call is counted. */
export function countKey(by: CountBy | readonly CountBy[]): (call: Call) => string {
  const fields = typeof by === "string" ? [by] : by;
  const [only, ...others] = fields.map((field) => VALUE_OF[field]);
  if (only && others.length === 0) return only;
  return (call) => JSON.stringify(fields.map((field) => VALUE_OF[field](call)));
}

const VALUE_OF: Readonly<Record<CountBy, (call: Call) => string>> = {
  key: ({ origin: { principal } }) => principal.key?.id ?? principal.id,
  user: ({ origin: { principal } }) => principal.id,
  session: ({ origin }) => sessionOf(origin),
  endpoint: ({ origin }) => origin.endpoint,
  server: ({ server }) => server,
  tool: ({ server, tool = "" }) => `${server} ${tool}`,
};

/** For clients without sessions: the principal. */
export function sessionOf({ sessionless, principal, session }: Origin): string {
  return sessionless ? principal.id : session;
}

/** A client may always end a subscription. */
export function isCounted({ method }: Pick<Call, "method">): boolean {
  return method !== "resources/unsubscribe";
}

/** For whom something is counted: one number for each combination of what is named. */
import type { Call, Origin } from "../kernel/call.ts";

const WAYS = ["key", "user", "session", "endpoint", "server", "tool"] as const;
export type CountBy = (typeof WAYS)[number];

export const COUNT_BY = {
  anyOf: [{ enum: WAYS }, { type: "array", items: { enum: WAYS }, minItems: 1, uniqueItems: true }],
  default: "key",
  description: `one of ${WAYS.join(", ")}, or a list of them`,
} as const;

/** The key of a call's count. */
export function countKey(by: CountBy | readonly CountBy[]): (call: Call) => string {
  const ways = typeof by === "string" ? [by] : by;
  const [only, ...others] = ways.map((way) => PARTS[way]);
  if (only && others.length === 0) return only;
  return (call) => JSON.stringify(ways.map((way) => PARTS[way](call)));
}

const PARTS: Readonly<Record<CountBy, (call: Call) => string>> = {
  key: ({ origin: { principal } }) => principal.key?.id ?? principal.id,
  user: ({ origin: { principal } }) => principal.id,
  session: ({ origin }) => sessionOf(origin),
  endpoint: ({ origin }) => origin.endpoint,
  server: ({ server }) => server,
  tool: ({ server, tool = "" }) => `${server} ${tool}`,
};

/** Without sessions: the principal. */
export function sessionOf({ sessionless, principal, session }: Origin): string {
  return sessionless ? principal.id : session;
}

const COUNTED: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** What a child works for; not, say, the level of its log. */
export function isCounted({ method }: Call): boolean {
  return COUNTED.has(method);
}

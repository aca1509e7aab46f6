/** The list of the last calls: which of them a reader gets, and in which order. */
import { TEXT } from "../kernel/json-schema.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { shownValue } from "../kernel/shown-value.ts";
import { CALL, OUTCOMES } from "../observe/call-schema.ts";
import type { CallWithArguments } from "../observe/live/recent-calls.ts";
import type { QueryOf } from "./route.ts";
import type { AdminParts } from "./routes/parts.ts";

export const CALL_FILTERS = {
  endpoint: { ...TEXT, description: "uuid or name" },
  server: { ...TEXT, description: "uuid or name" },
  method: {
    enum: ["tools/call", ...CALL.properties.method.enum],
  },
  tool: { ...TEXT, description: "the tool's name at the server; of a resource its URI" },
  principal: { ...TEXT, description: "id or name" },
  client: { ...TEXT, description: "name" },
  session: { ...TEXT, description: "hash" },
  outcome: { enum: OUTCOMES },
  code: { ...TEXT, description: "of the error table" },
  by: { ...TEXT, description: "the layer that refused it" },
  request: { ...TEXT, description: "id of the HTTP request, as in the access log" },
  q: { ...TEXT, description: "only calls with this text in a name, the client, the code or the reason" },
} as const;

export interface CallQuestion {
  readonly query: QueryOf<typeof CALL_FILTERS>;
  /** Only calls that come after this one in the list. */
  readonly after?: CallPlace | undefined;
  /** Undefined: all. */
  readonly limit?: number | undefined;
  /** With arguments. */
  readonly whole: boolean;
}

/** The place of a call in the list. */
export interface CallPlace {
  readonly at: string;
  readonly id: string | number;
}

/** The calls of this replica, newest first. */
export function ownCalls(parts: Observing, { query, after, limit, whole }: CallQuestion) {
  return [...parts.observed.calls.list()]
    .filter((call) => fits(call, query))
    .map((call) => ({ call, place: placeOf(parts, call) }))
    .filter(({ place }) => !after || newestFirst(after, place) < 0)
    .sort((a, b) => newestFirst(a.place, b.place))
    .slice(0, limit)
    .map(({ call }) => shownCall(parts, call, whole));
}

/** Of the same millisecond, the later call of a replica is first. */
export function newestFirst(a: CallPlace, b: CallPlace): number {
  if (a.at !== b.at) return a.at > b.at ? -1 : 1;
  const [ofA, callA] = numberIn(a.id);
  const [ofB, callB] = numberIn(b.id);
  if (ofA !== ofB) return ofA < ofB ? -1 : 1;
  return callB - callA;
}

/** An id is a number, or REPLICA-NUMBER. */
function numberIn(id: string | number): readonly [replica: string, call: number] {
  const [, replica = "", call] = /^(?:(.*)-)?(\d+)$/.exec(String(id)) ?? [];
  return [replica, Number(call)];
}

type Observing = Pick<AdminParts, "observed">;

function placeOf({ observed }: Observing, { at, id }: CallWithArguments): CallPlace {
  return { at: new Date(at).toISOString(), id: observed.callIds.of(id) };
}

/** `whole`: with arguments and results. */
export function shownCall(parts: Observing, of: CallWithArguments, whole: boolean) {
  const { sent, unsent, results, ...call } = of;
  return {
    ...call,
    ...placeOf(parts, of),
    ...(whole && sent && { arguments: argumentsOf(sent, unsent) }),
    ...(whole && results !== undefined && { results: JSON.parse(results) as unknown }),
  };
}

/** Secrets in those that reached no server are masked, because no layer judged them to the end. */
function argumentsOf(sent: Raw, unsent: boolean): unknown {
  return unsent ? shownValue(sent, { most: sent.length, hide: "strict" }) : fromRaw(sent);
}

function fits(call: CallWithArguments, query: QueryOf<typeof CALL_FILTERS>): boolean {
  const {
    endpoint,
    server,
    method = "tools/call",
    tool,
    principal,
    session,
    outcome,
    code,
    by,
    client,
    request,
    reason,
  } = call;
  const is = (name: keyof typeof CALL_FILTERS, ...values: readonly (string | undefined)[]): boolean => {
    const expected = query[name];
    return expected === undefined || values.includes(expected);
  };
  const text = query.q?.toLowerCase() ?? "";
  return (
    is("endpoint", endpoint.uuid, endpoint.name) &&
    is("server", server.uuid, server.name) &&
    is("method", method) &&
    is("tool", tool) &&
    is("principal", principal.id, principal.name) &&
    is("client", client?.name) &&
    is("session", session) &&
    is("outcome", outcome) &&
    is("code", code) &&
    is("by", by) &&
    is("request", request) &&
    [
      endpoint.name,
      server.name,
      tool,
      `${server.name}:${tool}`,
      principal.name,
      client?.name,
      code,
      reason,
    ].some((one) => one?.toLowerCase().includes(text))
  );
}

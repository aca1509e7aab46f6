/** A finished call in the form that audit log, live events and metrics use. */
import { ITEM_METHODS } from "../kernel/events.ts";
import { COUNT, MS, object, type Static, TEXT, UUID, type Written } from "../kernel/json-schema.ts";
import { ACTOR, CALLER } from "../kernel/principal.ts";

export const NAMED = object({ name: TEXT }, { uuid: UUID });
/** An object as records name it, with the name at that time. It may be renamed or deleted later. */
export type Named = Written<Static<typeof NAMED>>;

export const CLIENT = {
  ...object({ name: TEXT }, { version: TEXT }),
  description: "the client's own name and version",
} as const;
export type ClientName = Static<typeof CLIENT>;

export const OUTCOMES = ["ok", "error", "refused"] as const;

export const CALL = {
  type: "object",
  properties: {
    principal: {
      ...CALLER,
      description: "the caller: an account (with its key), a key, or anonymous",
    },
    client: CLIENT,
    endpoint: { ...NAMED, description: "the endpoint" },
    session: { ...TEXT, description: "hash of the session id" },
    surface: { ...TEXT, description: "surface of the endpoint, or openapi" },
    via: { enum: ["code", "chain"], description: "code or chain, if one of them made the call" },
    server: {
      ...NAMED,
      description: "the server; without uuid it is metamcp (MetaMCP's own tools) or an unknown name",
    },
    method: {
      enum: ITEM_METHODS,
      description:
        "the method, if it is not a tool call; other: one that is not known, with its name in place of the tool",
    },
    tool: {
      ...TEXT,
      description: "the tool's name at the server, the name of a prompt, or the URI of a resource",
    },
    outcome: {
      enum: OUTCOMES,
      description: "ok; error: it failed and may have had effects; refused: it did not reach the server",
    },
    code: { ...TEXT, description: "error code, if the outcome is not ok" },
    by: {
      ...TEXT,
      description:
        "what refused the call: a layer, limits, or namespace, server, endpoint or tiers, if one of them hides the tool",
    },
    place: {
      ...TEXT,
      description: 'the object that has this layer or switch, such as endpoint "dev"',
    },
    reason: {
      ...TEXT,
      description: "why it failed or was refused; what the server said is in results",
    },
    asked: {
      ...TEXT,
      description: "the name that the client used, if the tool is hidden from it",
    },
    durationMs: { ...MS, description: "time from request to answer, including all layers" },
    requestBytes: { ...COUNT, description: "of the arguments" },
    resultBytes: { ...COUNT, description: "of the result" },
    attempts: { type: "integer", minimum: 2, description: "number of attempts, if more than one" },
    cached: { const: true, description: "answered from the cache" },
    read: {
      ...TEXT,
      description: "server:tool that was read before, if the call was refused because of it",
    },
    approval: {
      ...object({ uuid: UUID, by: ACTOR, waitedMs: MS }),
      description: "who approved the call, if it needed an approval",
    },
    traceId: { ...TEXT, description: "id of the trace" },
    request: { ...TEXT, description: "id of the HTTP request, as in the access log" },
  },
  required: [
    "principal",
    "endpoint",
    "server",
    "tool",
    "outcome",
    "durationMs",
    "requestBytes",
    "resultBytes",
  ],
  additionalProperties: false,
} as const;

/** `at` is when the call ended, in milliseconds since 1970. */
export type CallRow = Written<Static<typeof CALL>> & { readonly at: number };

/**
 * Schemas for trying an endpoint in the console: a call with its events, and the preview of what a client
 * sees.
 */
import { ERROR_EVENT, PREVIEW, RESULT_EVENT, RUNNING_EVENTS } from "../gateway/try-control.ts";
import { ANY_OBJECT, COUNT, extended, list, MS, named, object, TEXT } from "../kernel/json-schema.ts";
import { ACTOR } from "../kernel/principal.ts";
import { RECENT_CALL } from "./observe-schemas.ts";

export const TRY = named("Try", {
  ...object(
    {},
    {
      as: { type: "string", minLength: 1, description: "uuid or e-mail address of the account to try it as" },
      name: { ...TEXT, description: "a tool by its name at the endpoint" },
      server: { type: "string", minLength: 1, description: "the server of a tool: uuid or name" },
      tool: {
        type: "string",
        minLength: 1,
        description: "the tool of that server, by its name at this endpoint",
      },
      args: { ...ANY_OBJECT, default: {} },
    },
  ),
  anyOf: [{ required: ["name"] }, { required: ["server", "tool"] }],
  description: "an object with name, or with server and tool",
});

const ENDED = {
  ms: { ...MS, description: "from the beginning to the end" },
  calls: { ...list(RECENT_CALL), description: "as in GET /calls; the tried call is the last" },
} as const;

export const TRY_EVENT = named("TryEvent", {
  anyOf: [
    ...RUNNING_EVENTS,
    {
      ...object({ type: { const: "missed" }, count: COUNT }),
      description: "number of progress and log events that were lost because the client read too slowly",
    },
    extended(RESULT_EVENT, ENDED),
    extended(ERROR_EVENT, ENDED),
  ],
  description: "server-sent events: event is the type, data is this object; result or error is the last one",
});

export const SHOWN_PREVIEW = named(
  "Preview",
  extended(
    PREVIEW,
    {
      as: { ...ACTOR, description: "the account this is shown for" },
      url: { ...TEXT, description: "the address for clients" },
    },
    { refused: { ...TEXT, description: "why this account cannot use the endpoint" } },
  ),
);

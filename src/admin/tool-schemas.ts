/**
 * Schemas of the table of all tools (cost, use, state per namespace), and of changed tools that need
 * approval.
 */

import { CONNECTION } from "../gateway/control.ts";
import { TOOL_OVERRIDE } from "../gateway/schemas.ts";
import { CHANGE_OF, SIGN, SIGNED_KIND } from "../gateway/view/tool-change.ts";
import { TOOL_CHANGE, TOOL_STATES } from "../gateway/view/tool-table.ts";
import {
  ANY_OBJECT,
  BOOLEAN,
  COUNT,
  DATE,
  extended,
  list,
  named,
  nullable,
  object,
  TEXT,
  TEXTS,
  UUID,
} from "../kernel/json-schema.ts";
import { COST } from "../kernel/tokens.ts";

const { server: _s, tool: TOOL_NAME, disabled: DISABLED, ...OVERRIDE } = TOOL_OVERRIDE.properties;

const TABLE_TOOL = object(
  {
    server: UUID,
    tool: { ...TEXT, description: "the tool's name at the server" },
    ...COST,
    calls: { ...COUNT, description: "since `since`" },
    in: {
      type: "object",
      additionalProperties: {
        enum: TOOL_STATES,
        description:
          "on, or the reason: off (its rule), new (new tools are off), server (the server is off), namespace (the server is off in the namespace), name (another tool has its name), held (changed and not approved)",
      },
      description: "by index in `namespaces`; namespaces without its server are left out",
    },
  },
  {
    title: TEXT,
    description: { ...TEXT, description: "its beginning" },
    annotations: OVERRIDE.annotations,
    lastUsedAt: DATE,
    changed: { ...TOOL_CHANGE, description: "it changed since it was approved" },
    missing: { const: true, description: "there is a rule for it, but the server does not list it" },
    overrides: {
      type: "object",
      additionalProperties: object({}, OVERRIDE),
      description: "by index in `namespaces`, if there are any",
    },
  },
);

export const TOOL_TABLE = named(
  "ToolTable",
  object(
    {
      servers: list(object({ uuid: UUID, name: TEXT, state: CONNECTION.properties.state })),
      namespaces: list(
        object({ uuid: UUID, name: TEXT, newTools: { enum: ["enabled", "disabled"] }, managedBy: TEXT }),
      ),
      since: { ...DATE, description: "start of the count" },
      pinned: { ...BOOLEAN, description: "tools that changed since they were approved are blocked" },
      total: { ...COUNT, description: "total number on all pages" },
      items: list(TABLE_TOOL),
    },
    { nextCursor: TEXT },
  ),
);

export const SET_TOOLS = named(
  "SetTools",
  object({
    set: {
      ...list({
        ...object(
          {
            server: { type: "string", minLength: 1, description: "a uuid or a name" },
            tool: TOOL_NAME,
          },
          {
            reset: { ...BOOLEAN, description: "delete its rule first" },
            disabled: nullable(DISABLED),
            name: nullable(OVERRIDE.name),
            title: nullable(OVERRIDE.title),
            description: nullable(OVERRIDE.description),
            annotations: nullable(ANY_OBJECT),
            args: nullable(ANY_OBJECT),
          },
        ),
        description: "a merge patch for the rule of one tool",
      }),
      minItems: 1,
      maxItems: 20_000,
    },
  }),
);

export const APPROVE_CHANGES = named(
  "ApproveChanges",
  object(
    { version: { ...TEXT, description: "state that was reviewed" } },
    {
      tools: { ...TEXTS, description: "only these tools; default: everything, if nothing is named" },
      prompts: { ...TEXTS, description: "only these prompts" },
      instructions: { ...BOOLEAN, description: "the instructions of the server" },
      signs: {
        ...list(object({ of: SIGNED_KIND, name: TEXT, form: TEXT })),
        description: "of `signs`: what a person has seen in this form, and finds harmless",
      },
    },
  ),
);

export const TOOL_CHANGES = named(
  "ToolChanges",
  object(
    {
      version: { ...TEXT, description: "send it with an approval" },
      items: list(
        extended(
          TOOL_CHANGE,
          {
            of: CHANGE_OF,
            tool: { ...TEXT, description: "the name of the tool or prompt" },
            signs: { ...list(SIGN), description: "what in its texts speaks for an attack" },
          },
          {
            before: { ...ANY_OBJECT, description: "the definition that was approved, if it is known" },
            after: { ...ANY_OBJECT, description: "the current definition" },
          },
        ),
      ),
      removed: { ...TEXTS, description: "approved, but no longer listed" },
      signs: {
        ...list(object({ of: SIGNED_KIND, name: TEXT, form: TEXT, signs: list(SIGN) })),
        description:
          "of what needs no approval, until somebody approves it in this `form`; the name of a resource is its URI",
      },
    },
    { fault: { ...TEXT, description: "why the tools cannot be compared" } },
  ),
);

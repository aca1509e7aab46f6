/** The schemas of layers, of approvals, and of the explanation of a call. */
const TEXT = { type: "string" } as const;
const UUID = { type: "string", format: "uuid" } as const;
const DATE = { type: "string", format: "date-time" } as const;
const TEXTS = { type: "array", items: TEXT } as const;
const NAMED = { type: "object", properties: { uuid: TEXT, name: TEXT }, required: ["uuid", "name"] } as const;
const ACTOR = {
  type: "object",
  properties: { kind: TEXT, id: TEXT, name: TEXT },
  required: ["kind", "id", "name"],
} as const;

export const APPROVAL_STATES = ["waiting", "approved", "refused", "expired", "withdrawn"] as const;

export const EXPLAIN = {
  type: "object",
  properties: {
    tool: {
      type: "string",
      minLength: 1,
      maxLength: 512,
      description: "server:tool, or its name on the aggregate surface",
    },
    args: { type: "object", default: {} },
    as: {
      type: "string",
      description: "uuid or e-mail address of an account, key:NAME or key:UUID; default: the caller",
    },
  },
  required: ["tool"],
  additionalProperties: false,
} as const;

const LAYER = {
  type: "object",
  properties: {
    use: { type: "string", description: "its name in an entry" },
    summary: { type: "string", description: "what it does" },
    guards: { type: "boolean", description: "only administrators change it" },
    schema: { type: "object", description: "JSON Schema of its options" },
    inside: { ...TEXTS, description: "layers that must come before it in the pipeline" },
    fault: { type: "string", description: "for a custom layer: why it cannot be used" },
  },
  required: ["use", "guards", "schema", "inside"],
} as const;

export const PIPELINE_COMPONENTS = {
  Layers: {
    type: "object",
    properties: {
      places: {
        type: "array",
        items: { enum: ["settings", "endpoint", "namespace", "server"] },
        description: "the places of a pipeline, outermost first",
      },
      items: { type: "array", items: LAYER },
    },
    required: ["places", "items"],
  },
  Explain: EXPLAIN,
  Explanation: {
    type: "object",
    properties: {
      as: ACTOR,
      outcome: {
        enum: ["passes", "asks", "answered", "refused", "unknown"],
        description:
          "asks: runs after somebody says yes; answered: does not reach the server; unknown: a server that may have the tool could not be listed",
      },
      code: { type: "string", description: "for a refusal: the error code" },
      tool: {
        type: "object",
        properties: {
          server: NAMED,
          tool: TEXT,
          name: { type: "string", description: "its name at this endpoint" },
        },
        required: ["server", "tool", "name"],
      },
      steps: {
        type: "array",
        items: {
          type: "object",
          properties: {
            use: { type: "string", description: "a layer, or access, name, arguments" },
            at: { type: "string", description: "its place" },
            effect: {
              enum: ["pass", "allow", "deny", "ask", "approve", "limit", "change", "answer", "unknown"],
            },
            reason: TEXT,
          },
          required: ["use", "at", "effect"],
        },
        description: "outermost first, up to the layer that ends the call",
      },
    },
    required: ["as", "outcome", "steps"],
  },
  Approval: {
    type: "object",
    properties: {
      uuid: UUID,
      state: { enum: APPROVAL_STATES },
      name: { type: "string", description: "server:tool" },
      at: DATE,
      expiresAt: DATE,
      endpoint: NAMED,
      principal: {
        ...ACTOR,
        properties: {
          ...ACTOR.properties,
          key: { type: "object", properties: { id: TEXT, name: TEXT }, required: ["id", "name"] },
          actor: { ...ACTOR, description: "the person who really made the call" },
        },
        description: "who made the call",
      },
      via: { enum: ["code", "chain"] },
      server: NAMED,
      tool: { type: "string", description: "the tool's name at the server" },
      arguments: {
        description:
          "the arguments as they would be sent: secrets are replaced by their length, invisible characters are escaped, long numbers are texts, and above 64 KB each long value is shortened in the middle",
      },
      reason: { type: "string", description: "why the call needs an approval" },
      by: {
        type: "object",
        properties: { roles: TEXTS, groups: TEXTS },
        description: "who can decide, besides administrators",
      },
      decidable: { type: "boolean", description: "you may decide it now" },
      decidedAt: DATE,
      decidedBy: ACTOR,
      comment: TEXT,
    },
    required: [
      "uuid",
      "state",
      "name",
      "at",
      "expiresAt",
      "endpoint",
      "principal",
      "server",
      "tool",
      "arguments",
      "reason",
      "by",
      "decidable",
    ],
  },
} as const;

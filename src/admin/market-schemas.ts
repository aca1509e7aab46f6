/** Schemas of servers offered by registry and gallery, and of servers that models requested. */
const TEXT = { type: "string" } as const;
const DATE = { type: "string", format: "date-time" } as const;
const NAMED = { type: "object", properties: { uuid: TEXT, name: TEXT }, required: ["uuid", "name"] } as const;
const ACTOR = {
  type: "object",
  properties: { kind: TEXT, id: TEXT, name: TEXT },
  required: ["kind", "id", "name"],
} as const;

export const SOURCES = ["registry", "gallery"] as const;

const ENTRY = { type: "object", description: "what to send to POST /mcp-servers, with a name" } as const;

const VARIABLE = {
  type: "object",
  properties: {
    name: TEXT,
    description: TEXT,
    required: { type: "boolean" },
    secret: { type: "boolean" },
    set: { type: "boolean", description: "it is set in the environment of the gateway" },
  },
  required: ["name", "required", "secret", "set"],
} as const;

const OFFER = {
  type: "object",
  properties: {
    id: TEXT,
    name: { type: "string", description: "the name it would get" },
    title: TEXT,
    description: TEXT,
    from: { enum: SOURCES },
    category: { type: "string", description: "only in the gallery" },
    version: TEXT,
    entry: { ...ENTRY, description: `${ENTRY.description}, without optional variables that are not set` },
    template: {
      type: "object",
      description:
        "the same with all its variables, written as a dollar sign and the name in braces where a value goes",
    },
    variables: { type: "array", items: VARIABLE },
    missing: { type: "array", items: TEXT, description: "variables that need a value" },
    refused: { type: "string", description: "why it must not run" },
    verified: { type: "boolean" },
    link: TEXT,
    fit: { type: "number" },
  },
  required: ["id", "name", "description", "from", "entry", "template"],
} as const;

const REQUEST = {
  type: "object",
  properties: {
    uuid: TEXT,
    state: { enum: ["pending", "approved", "refused"] },
    at: DATE,
    endpoint: NAMED,
    principal: ACTOR,
    intent: TEXT,
    id: TEXT,
    name: TEXT,
    entry: { type: "object", description: "what would run" },
    missing: { type: "array", items: TEXT },
    decidedAt: DATE,
    by: ACTOR,
    reason: TEXT,
    server: NAMED,
  },
  required: ["uuid", "state", "at", "endpoint", "principal", "intent", "id", "name", "entry", "missing"],
} as const;

export const MARKET_COMPONENTS = {
  Offer: OFFER,
  Offers: {
    type: "object",
    properties: {
      items: {
        type: "array",
        items: { $ref: "#/components/schemas/Offer" },
        description: "best first",
      },
      notice: { type: "string", description: "if the registry could not be read completely" },
    },
    required: ["items"],
  },
  ProvisionRequest: REQUEST,
} as const;

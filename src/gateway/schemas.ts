/** The JSON Schemas (2020-12) of all kinds of objects. They check input, define the types, and are part of the OpenAPI description. */
import type { Static } from "./json-schema.ts";

const NAME = {
  type: "string",
  minLength: 1,
  maxLength: 128,
  pattern: "^[^\\p{Cc}\\p{Cs}/:]+$",
  description: "1 to 128 characters, without control characters, / or :",
} as const;
/** No NUL characters: environment variables and headers cannot contain them. */
const TEXT = {
  type: "string",
  pattern: "^[^\\u0000]*$",
  description: "a text without NUL characters",
} as const;
/** Far more than anybody writes. Checking and compiling a list happens in one turn of the event loop. */
const MANY = 1_000;
const TEXTS = { type: "array", items: TEXT, maxItems: MANY } as const;
const DESCRIPTION = { type: "string", maxLength: 20_000, default: "" } as const;
const ON = { type: "boolean", default: true } as const;
const OFF = { type: "boolean", default: false } as const;
const COUNT = { type: "integer", minimum: 1 } as const;
const REFERENCE = { type: "string", minLength: 1, description: "a uuid or a name" } as const;
const TIME = {
  anyOf: [{ type: "integer" }, { type: "string" }],
  description: 'milliseconds, or a time such as "30s" or "5m"',
} as const;

export const MIDDLEWARE = {
  type: "array",
  items: {
    type: "object",
    properties: { use: { type: "string", minLength: 1, description: "the name of a layer" } },
    required: ["use"],
  },
  maxItems: 100,
  default: [],
} as const;

const LIFECYCLE_MODE = { enum: ["default", "keep-alive", "ephemeral"] } as const;

export const SERVER = {
  type: "object",
  properties: {
    name: NAME,
    description: DESCRIPTION,
    type: { enum: ["stdio", "http", "sse"] },
    command: TEXT,
    args: TEXTS,
    env: {
      type: "object",
      additionalProperties: TEXT,
      maxProperties: 500,
      propertyNames: { pattern: "^[^=\\u0000]+$", description: "a name that a variable can have" },
    },
    cwd: TEXT,
    inheritEnv: { anyOf: [{ type: "boolean" }, TEXTS], description: "true, false or a list of names" },
    url: TEXT,
    headers: {
      type: "object",
      additionalProperties: TEXT,
      maxProperties: 500,
      propertyNames: { pattern: "^[\\w!#$%&'*+.^`|~-]+$", description: "a name that a header can have" },
    },
    oauth: {
      anyOf: [
        { type: "boolean" },
        {
          type: "object",
          properties: {
            clientId: TEXT,
            clientSecret: TEXT,
            clientMetadataUrl: TEXT,
            scopes: { anyOf: [TEXT, TEXTS] },
          },
          additionalProperties: false,
        },
      ],
      description: "true, false or { clientId, clientSecret, clientMetadataUrl, scopes }",
    },
    lifecycle: {
      anyOf: [
        LIFECYCLE_MODE,
        {
          type: "object",
          properties: { mode: LIFECYCLE_MODE, idleTimeoutMs: TIME },
          additionalProperties: false,
        },
      ],
      description: '"default", "keep-alive", "ephemeral" or { mode, idleTimeoutMs }',
    },
    criticality: { enum: ["optional", "vital"] },
    timeoutMs: TIME,
    deadlineMs: TIME,
    connectTimeoutMs: TIME,
    disabled: OFF,
    tools: {
      type: "object",
      properties: { allow: TEXTS, deny: TEXTS, ask: TEXTS },
      additionalProperties: false,
    },
    isolation: { enum: ["shared", "session"] },
    retry: { enum: ["safe", "crash", "never"] },
    prefix: { enum: ["server", "none"] },
    examples: { type: "object", additionalProperties: { type: "array", items: {} } },
    labels: {
      type: "array",
      items: { type: "string", minLength: 1 },
      maxItems: MANY,
      uniqueItems: true,
      default: [],
    },
    credentials: { enum: ["shared", "user"], default: "shared" },
    instances: { type: "integer", minimum: 1, maximum: 16, default: 1 },
    middleware: MIDDLEWARE,
  },
  required: ["name"],
  additionalProperties: false,
} as const;

const ARGUMENT = {
  anyOf: [
    {
      type: "object",
      properties: { default: {} },
      required: ["default"],
      additionalProperties: false,
    },
    { type: "object", properties: { fixed: {} }, required: ["fixed"], additionalProperties: false },
  ],
  description: "{ default: value } or { fixed: value }",
} as const;

export const NAMESPACE_SERVER = {
  type: "object",
  properties: {
    server: REFERENCE,
    disabled: { type: "boolean" },
    prefix: {
      type: "string",
      pattern: "^[A-Za-z0-9_.-]{1,48}$",
      description: '"server", "none" or a text of 1 to 48 letters, digits, _ . and -',
    },
  },
  required: ["server"],
  additionalProperties: false,
} as const;

export const TOOL_OVERRIDE = {
  type: "object",
  properties: {
    server: REFERENCE,
    tool: { type: "string", minLength: 1, maxLength: 512, description: "the server's own name of the tool" },
    disabled: { type: "boolean" },
    name: {
      type: "string",
      pattern: "^[A-Za-z0-9_.-]{1,64}$",
      description: "1 to 64 letters, digits, _ . and -",
    },
    title: { type: "string" },
    description: { type: "string" },
    annotations: {
      type: "object",
      properties: {
        title: { type: "string" },
        readOnlyHint: { type: "boolean" },
        destructiveHint: { type: "boolean" },
        idempotentHint: { type: "boolean" },
        openWorldHint: { type: "boolean" },
      },
      additionalProperties: false,
    },
    args: { type: "object", additionalProperties: ARGUMENT },
  },
  required: ["server", "tool"],
  additionalProperties: false,
} as const;

export const NAMESPACE = {
  type: "object",
  properties: {
    name: NAME,
    description: DESCRIPTION,
    servers: { type: "array", items: NAMESPACE_SERVER, default: [] },
    tools: { type: "array", items: TOOL_OVERRIDE, default: [] },
    newTools: { enum: ["enabled", "disabled"], default: "enabled" },
    middleware: MIDDLEWARE,
  },
  required: ["name"],
  additionalProperties: false,
} as const;

const NAMES = { type: "array", items: { type: "string", minLength: 1 }, maxItems: MANY } as const;

const ACCESS = {
  type: "object",
  properties: {
    public: OFF,
    keys: ON,
    oauth: ON,
    queryKey: OFF,
    allow: {
      type: "object",
      properties: { users: NAMES, groups: NAMES, roles: NAMES },
      additionalProperties: false,
    },
    origins: NAMES,
  },
  additionalProperties: false,
  default: {},
} as const;

const LIMITS = {
  type: "object",
  properties: { sessions: COUNT, inFlight: COUNT },
  additionalProperties: false,
  default: {},
} as const;

export const ENDPOINT = {
  type: "object",
  properties: {
    name: {
      type: "string",
      pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$",
      description: "1 to 63 letters, digits, _ and -, the first a letter or digit: it is part of the address",
    },
    description: DESCRIPTION,
    namespaces: { type: "array", items: REFERENCE, maxItems: MANY, default: [] },
    surface: { enum: ["meta", "metatools", "aggregate", "auto"], default: "meta" },
    access: ACCESS,
    stateless: OFF,
    jsonResponse: OFF,
    openapi: OFF,
    code: ON,
    maxResultBytes: COUNT,
    limits: LIMITS,
    middleware: MIDDLEWARE,
    disabled: OFF,
  },
  required: ["name"],
  additionalProperties: false,
} as const;

/** Only algorithms with a key pair. With a shared secret, everybody who can verify a token could also sign one. */
const SIGNATURE = {
  enum: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
} as const;

export const SETTINGS = {
  type: "object",
  properties: {
    middleware: MIDDLEWARE,
    limits: LIMITS,
    issuers: {
      type: "array",
      items: {
        type: "object",
        properties: {
          issuer: { type: "string", minLength: 1 },
          jwksUri: { type: "string", minLength: 1 },
          algorithms: { type: "array", items: SIGNATURE, minItems: 1 },
          groupsClaim: { type: "string", minLength: 1 },
        },
        required: ["issuer", "algorithms"],
        additionalProperties: false,
      },
      default: [],
    },
    registration: { enum: ["open", "closed"], default: "open" },
    secrets: {
      type: "object",
      additionalProperties: TEXT,
      maxProperties: 500,
      propertyNames: {
        pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$",
        description: "a name of letters, digits and _",
      },
      default: {},
    },
    passwords: {
      enum: ["on", "off"],
      default: "on",
      description: "off: people log in at the identity provider only; counts while one is configured",
    },
    keyLifetimeDays: {
      type: "integer",
      minimum: 1,
      maximum: 3_650,
      description: "how long API keys are valid at most after they were created, also existing ones",
    },
  },
  additionalProperties: false,
} as const;

export const SCHEMAS = {
  server: SERVER,
  namespace: NAMESPACE,
  endpoint: ENDPOINT,
  settings: SETTINGS,
} as const;

export type ServerFields = Static<typeof SERVER>;
export type NamespaceFields = Static<typeof NAMESPACE>;
export type EndpointFields = Static<typeof ENDPOINT>;
export type SettingsFields = Static<typeof SETTINGS>;
export type ToolOverride = Static<typeof TOOL_OVERRIDE>;
export type ArgumentOverride = Static<typeof ARGUMENT>;

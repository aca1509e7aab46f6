/**
 * The JSON Schemas (2020-12) of all kinds of objects. They check input, define the types, and are part of the
 * OpenAPI description.
 */
import { DESCRIPTION, MANY, MIDDLEWARE, NAME, OFF, SANDBOX, TEXT } from "../config/schemas.ts";
import { SECRET_KINDS, type SecretKind } from "../config/secret-reference.ts";
import { SERVER_FIELDS } from "../config/server-fields.ts";
import type { Schema, Static } from "../kernel/json-schema.ts";
import { TOOL_ANNOTATIONS } from "../kernel/tool-facts.ts";

const ON = { type: "boolean", default: true } as const;
const COUNT = { type: "integer", minimum: 1 } as const;
const REFERENCE = { type: "string", minLength: 1, description: "a uuid or a name" } as const;
/** The schema of each field in a table. */
function schemasOf<T extends Readonly<Record<string, { readonly schema: Schema }>>>(fields: T) {
  return Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])) as {
    readonly [K in keyof T]: T[K]["schema"];
  };
}

export const SERVER = {
  type: "object",
  properties: schemasOf(SERVER_FIELDS),
  required: ["name"],
  additionalProperties: false,
} as const;

const ARGUMENT = {
  anyOf: [
    { type: "object", properties: { default: {} }, required: ["default"], additionalProperties: false },
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
    annotations: TOOL_ANNOTATIONS,
    args: { type: "object", additionalProperties: ARGUMENT, maxProperties: MANY },
  },
  required: ["server", "tool"],
  additionalProperties: false,
} as const;

export const NAMESPACE = {
  type: "object",
  properties: {
    name: NAME,
    description: DESCRIPTION,
    servers: { type: "array", items: NAMESPACE_SERVER, maxItems: MANY, default: [] },
    tools: { type: "array", items: TOOL_OVERRIDE, maxItems: 5 * MANY, default: [] },
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
    pinned: {
      type: "array",
      items: { type: "string", pattern: "^[^:]+:.+$", maxLength: 640, description: "server:tool" },
      maxItems: 100,
      description:
        "tools that the surfaces meta and metatools list in full beside their own: server:tool, with the names at the endpoint",
    },
    limits: LIMITS,
    middleware: MIDDLEWARE,
    disabled: OFF,
  },
  required: ["name"],
  additionalProperties: false,
} as const;

/**
 * Only algorithms with a key pair. With a shared secret, everybody who can verify a token could also sign
 * one.
 */
const SIGNATURE = {
  enum: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
} as const;

/** What a call is expected to meet: the rules let it pass, refuse it, or ask a person first. */
export const EXPECTED = { enum: ["allow", "deny", "ask"] } as const;

export const POLICY_TEST = {
  type: "object",
  properties: {
    endpoint: REFERENCE,
    as: {
      type: "string",
      minLength: 1,
      maxLength: 320,
      description:
        "who calls: an e-mail address or uuid, key:NAME or key:UUID, group:NAME (any member of it) or role:NAME",
    },
    tool: {
      type: "string",
      minLength: 1,
      maxLength: 640,
      description: "server:tool, with the name at the endpoint or the server's own",
    },
    args: { type: "object", description: "the arguments that rules judge" },
    expect: EXPECTED,
  },
  required: ["endpoint", "as", "tool", "expect"],
  additionalProperties: false,
} as const;

/** What webhooks tell. */
export const NOTIFY_EVENTS = [
  "approval.waiting",
  "server.requested",
  "server.failing",
  "audit.lost",
  "key.expiring",
] as const;

const WEBHOOK = {
  type: "object",
  properties: {
    name: { type: "string", pattern: "^[^\\p{Cc}\\p{Cs}/]{1,64}$", description: "1 to 64 characters" },
    url: { type: "string", minLength: 1, maxLength: 2_048, description: "masked behind its host" },
    events: { type: "array", items: { enum: NOTIFY_EVENTS }, minItems: 1, maxItems: NOTIFY_EVENTS.length },
    format: { enum: ["json", "slack"], default: "json" },
    secret: {
      type: "string",
      maxLength: 512,
      description: "at least 16 characters; signs each message: HMAC-SHA256 in the header Metamcp-Signature",
    },
    allowPrivate: {
      ...OFF,
      description: "also send to private addresses and over plain http",
    },
  },
  required: ["name", "url", "events"],
  additionalProperties: false,
} as const;

const PREFIXES = { type: "array", items: { ...TEXT, maxLength: 1_024 }, maxItems: 100 } as const;

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
          algorithms: { type: "array", items: SIGNATURE, minItems: 1, maxItems: SIGNATURE.enum.length },
          groupsClaim: { type: "string", minLength: 1 },
        },
        required: ["issuer", "algorithms"],
        additionalProperties: false,
      },
      maxItems: 100,
      default: [],
    },
    registration: { enum: ["open", "closed"], default: "open" },
    sandbox: {
      type: "object",
      properties: {
        default: { ...SANDBOX, description: "for local servers without a sandbox of their own" },
        floor: {
          ...SANDBOX,
          description: "no local server may touch more; also the default, if there is none",
        },
      },
      additionalProperties: false,
      description: "sandboxes of all local servers",
    },
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
    // Without a default, so that settings without it stay readable for version 0.2.
    secretSources: {
      type: "object",
      properties: Object.fromEntries(SECRET_KINDS.map((kind) => [kind, PREFIXES])) as Record<
        SecretKind,
        typeof PREFIXES
      >,
      additionalProperties: false,
      description: "which secrets servers may name, by where they are kept: prefixes of their names",
    },
    passwords: {
      enum: ["on", "off"],
      default: "on",
      description: "off: people log in at the identity provider only; counts while one is configured",
    },
    notify: {
      type: "array",
      items: WEBHOOK,
      maxItems: 20,
      description: "webhooks that are told what waits for people",
    },
    // Without a default, so that settings without tests stay readable for version 0.2.
    tests: {
      type: "object",
      additionalProperties: POLICY_TEST,
      maxProperties: 1_000,
      propertyNames: {
        pattern: "^[^\\p{Cc}\\p{Cs}/]{1,128}$",
        description: "1 to 128 characters, without control characters and /",
      },
      description: "calls with what the rules must say about them; a change that breaks one is refused",
    },
    registry: {
      type: "object",
      properties: {
        public: { ...OFF, description: "everybody may read the list, without a credential" },
        endpoints: { type: "array", items: REFERENCE, maxItems: MANY, default: [] },
        servers: {
          type: "array",
          items: REFERENCE,
          maxItems: MANY,
          description: "local servers that are listed as packages, for others to run themselves",
        },
      },
      required: ["endpoints"],
      additionalProperties: false,
      description:
        "an MCP registry at /v0.1/servers that lists these endpoints, and these servers as packages: to everybody, or to each caller the endpoints it may use",
    },
    keyLifetimeDays: {
      type: "integer",
      minimum: 1,
      maximum: 3_650,
      description:
        "how long API keys are valid at most after they were created or rotated, also existing ones",
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
export type WebhookFields = Static<typeof WEBHOOK>;
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];
export type PolicyTest = Static<typeof POLICY_TEST>;
export type ToolOverride = Static<typeof TOOL_OVERRIDE>;
export type ArgumentOverride = Static<typeof ARGUMENT>;

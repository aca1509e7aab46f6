/** Schemas of API keys: as they are returned, created, changed and imported. */
import { ROLES } from "../access/account.ts";

const UUID = { type: "string", format: "uuid" } as const;
const DATE = { type: "string", format: "date-time" } as const;
const TEXT = { type: "string" } as const;
const TIERS = ["readOnly", "write", "destructive"] as const;

const API_KEY = {
  type: "object",
  properties: {
    uuid: UUID,
    name: TEXT,
    description: TEXT,
    owner: { ...UUID, description: "the account that owns it" },
    endpoints: { anyOf: [{ const: "all" }, { type: "array", items: UUID }] },
    role: { enum: ROLES },
    tiers: { type: "array", items: { enum: TIERS } },
    prefix: { type: "string", description: "first characters of the key" },
    createdAt: DATE,
    expiresAt: DATE,
    lastUsedAt: DATE,
  },
  required: ["uuid", "name", "prefix", "createdAt"],
} as const;

const KEY_NAME = {
  type: "string",
  minLength: 1,
  maxLength: 128,
  pattern: "^[^\\p{Cc}\\p{Cs}]*\\S[^\\p{Cc}\\p{Cs}]*$",
  description: "1 to 128 characters, without control characters",
} as const;

const LINE = {
  type: "string",
  maxLength: 2_000,
  pattern: "^[^\\u0000\\p{Cs}]*$",
  description: "a text without NUL characters",
} as const;

const KEY_ENDPOINTS = {
  anyOf: [{ const: "all" }, { type: "array", items: { type: "string" }, minItems: 1, maxItems: 1000 }],
  description: '"all", or uuids or names of endpoints',
} as const;

export const NEW_API_KEY = {
  type: "object",
  properties: {
    name: KEY_NAME,
    description: LINE,
    endpoints: KEY_ENDPOINTS,
    role: { enum: ROLES, description: "gives access to the admin API with this role, instead of endpoints" },
    tiers: {
      type: "array",
      items: { enum: TIERS },
      minItems: 1,
      uniqueItems: true,
      description: "only tools of these tiers, by their annotations",
    },
    owner: {
      type: "string",
      minLength: 1,
      description: "uuid or e-mail address of the account that owns it",
    },
    expiresAt: {
      type: "string",
      pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:\\d\\d)$",
      description: "a time such as 2030-01-31T12:00:00Z",
    },
  },
  required: ["name"],
  additionalProperties: false,
} as const;

export const API_KEY_PATCH = {
  type: "object",
  properties: { name: KEY_NAME, description: LINE },
  additionalProperties: false,
} as const;

export const KEY_IMPORT = {
  type: "object",
  properties: {
    keys: {
      type: "array",
      maxItems: 10_000,
      items: {
        type: "object",
        properties: {
          uuid: {
            type: "string",
            pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
            description: "a uuid",
          },
          name: KEY_NAME,
          key: { type: "string", description: "the text of the key" },
          endpoints: KEY_ENDPOINTS,
        },
        required: ["uuid", "name", "key", "endpoints"],
        additionalProperties: false,
      },
    },
  },
  required: ["keys"],
  additionalProperties: false,
} as const;

export const API_KEY_COMPONENTS = {
  ApiKey: API_KEY,
  NewApiKey: NEW_API_KEY,
  ApiKeyPatch: API_KEY_PATCH,
  ApiKeyMade: {
    ...API_KEY,
    properties: {
      ...API_KEY.properties,
      key: { type: "string", description: "the key; it is returned only once" },
    },
    required: [...API_KEY.required, "key"],
  },
  KeyImport: KEY_IMPORT,
} as const;

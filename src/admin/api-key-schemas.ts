/** Schemas of API keys: as they are returned, created, changed and imported. */
import { ROLES } from "../access/account.ts";
import { MACHINE } from "../access/machine-client.ts";
import { DATE, extended, list, named, object, TEXT, UUID } from "../kernel/json-schema.ts";
import { TIERS } from "../kernel/principal.ts";

export const RETURNED_KEY = named(
  "ApiKey",
  object(
    {
      uuid: UUID,
      name: TEXT,
      prefix: { ...TEXT, description: "first characters of the key" },
      createdAt: DATE,
    },
    {
      description: TEXT,
      owner: { ...UUID, description: "the account that owns it" },
      endpoints: { anyOf: [{ const: "all" }, list(UUID)] },
      role: { enum: ROLES },
      tiers: list({ enum: TIERS }),
      machine: MACHINE,
      expiresAt: DATE,
      lastUsedAt: DATE,
      rotatedAt: { ...DATE, description: "when it got its current text, if it was rotated" },
      overlapUntil: { ...DATE, description: "until when its former text is valid" },
    },
  ),
);

export const KEY_MADE = named(
  "ApiKeyMade",
  extended(
    RETURNED_KEY,
    {},
    {
      key: {
        ...TEXT,
        description: "the key; it is returned only once. Absent for a machine client with keys of its own",
      },
    },
  ),
);

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
  anyOf: [{ const: "all" }, { ...list(TEXT), minItems: 1, maxItems: 1000 }],
  description: '"all", or uuids or names of endpoints',
} as const;

export const NEW_API_KEY = named(
  "NewApiKey",
  object(
    { name: KEY_NAME },
    {
      description: LINE,
      endpoints: KEY_ENDPOINTS,
      role: {
        enum: ROLES,
        description: "gives access to the admin API with this role, instead of endpoints",
      },
      tiers: {
        ...list({ enum: TIERS }),
        minItems: 1,
        uniqueItems: true,
        description: "only tools of these tiers, by their annotations",
      },
      machine: MACHINE,
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
  ),
);

export const KEY_ROTATION = named(
  "ApiKeyRotation",
  object(
    {},
    {
      overlapHours: {
        type: "number",
        minimum: 0,
        maximum: 720,
        default: 24,
        description: "how long the former text is valid too; 0: it ends at once, with its sessions",
      },
    },
  ),
);

export const API_KEY_PATCH = named(
  "ApiKeyPatch",
  object({}, { name: KEY_NAME, description: LINE, machine: MACHINE }),
);

export const KEY_IMPORT = named(
  "KeyImport",
  object({
    keys: {
      ...list(
        object({
          uuid: {
            type: "string",
            pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
            description: "a uuid",
          },
          name: KEY_NAME,
          key: { ...TEXT, description: "the text of the key" },
          endpoints: KEY_ENDPOINTS,
        }),
      ),
      maxItems: 10_000,
    },
  }),
);

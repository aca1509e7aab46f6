/** JSON Schemas of values in the config. The description says what a value must be, for error messages. */

export const NAME = {
  type: "string",
  minLength: 1,
  maxLength: 128,
  pattern: "^[^\\p{Cc}\\p{Cs}/:]+$",
  description: "1 to 128 characters, without control characters, / or :",
} as const;
/** No NUL characters: environment variables and headers cannot contain them. */
export const TEXT = {
  type: "string",
  pattern: "^[^\\u0000]*$",
  description: "a text without NUL characters",
} as const;
/** Far more than anybody writes. Checking and compiling a list happens in one turn of the event loop. */
export const MANY = 1_000;
/** As long as an argument can be on every system. */
const LONGEST_ARGUMENT = 32_767;
export const ARGUMENTS = {
  type: "array",
  items: {
    ...TEXT,
    maxLength: LONGEST_ARGUMENT,
    description: `a text of at most ${LONGEST_ARGUMENT} characters, without NUL characters`,
  },
  maxItems: MANY,
} as const;
/** An address, a path or a program. Each is searched for secrets and variables. */
export const PLACE = {
  ...TEXT,
  maxLength: 8_192,
  description: "a text of at most 8192 characters, without NUL characters",
} as const;
/** A gateway reads no files: they are another's, and not at every replica. */
export const DOCUMENT = {
  type: "string",
  maxLength: 8_192,
  pattern: "^https?://[^\\u0000]*$",
  description: "an address that begins with http:// or https://",
} as const;
export const TEXTS = { type: "array", items: TEXT, maxItems: MANY } as const;
export const DESCRIPTION = { type: "string", maxLength: 20_000, default: "" } as const;
export const OFF = { type: "boolean", default: false } as const;
export const TIME = {
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
const NAMED_TEXTS = { type: "object", additionalProperties: TEXT, maxProperties: 500 } as const;
export const VARIABLES = {
  ...NAMED_TEXTS,
  propertyNames: { pattern: "^[^=\\u0000]+$", description: "a name that a variable can have" },
} as const;
export const HEADERS = {
  ...NAMED_TEXTS,
  propertyNames: { pattern: "^[\\w!#$%&'*+.^`|~-]+$", description: "a name that a header can have" },
} as const;
export const OAUTH = {
  anyOf: [
    { type: "boolean" },
    {
      type: "object",
      properties: {
        clientId: TEXT,
        clientSecret: TEXT,
        clientMetadataUrl: TEXT,
        grant: { const: "client_credentials" },
        privateKey: TEXT,
        scopes: { anyOf: [TEXT, TEXTS] },
      },
      additionalProperties: false,
    },
  ],
  description: "true, false or { clientId, clientSecret, clientMetadataUrl, grant, privateKey, scopes }",
} as const;
const MODE = { enum: ["default", "keep-alive", "ephemeral"] } as const;
export const LIFECYCLE = {
  anyOf: [
    MODE,
    { type: "object", properties: { mode: MODE, idleTimeoutMs: TIME }, additionalProperties: false },
  ],
  description: '"default", "keep-alive", "ephemeral" or { mode, idleTimeoutMs }',
} as const;
export const LABELS = {
  type: "array",
  items: { type: "string", minLength: 1 },
  maxItems: MANY,
  uniqueItems: true,
  default: [],
} as const;
const NETWORK_HOSTS = {
  type: "array",
  items: { type: "string", minLength: 1, maxLength: 300 },
  maxItems: MANY,
} as const;
export const SANDBOX = {
  anyOf: [
    { type: "boolean" },
    {
      type: "object",
      properties: {
        read: TEXTS,
        write: TEXTS,
        network: { anyOf: [{ enum: ["all", "none"] }, NETWORK_HOSTS] },
        memoryMb: { type: "integer", minimum: 16, maximum: 1_000_000 },
        processes: { type: "integer", minimum: 1, maximum: 1_000_000 },
        image: { type: "string", minLength: 1, maxLength: 300 },
      },
      additionalProperties: false,
    },
  ],
  description: "true, false or { read, write, network, memoryMb, processes, image }",
} as const;

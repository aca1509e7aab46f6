/** Schemas of accounts, logins, grants and the secrets of accounts. */
import { ROLES } from "../access/account.ts";
import { LEAST_PASSWORD, MAX_PASSWORD } from "../access/password.ts";
import { MAX_SECRET, SECRET_PATTERN } from "../access/user-secrets.ts";

const DATE = { type: "string", format: "date-time" } as const;
const TEXT = { type: "string" } as const;
const ROLE = { enum: ROLES } as const;

const EMAIL = {
  type: "string",
  maxLength: 254,
  pattern: "^[^\\s\\p{Cc}\\p{Cs}@]+@[^\\s\\p{Cc}\\p{Cs}@]+$",
  description: "an e-mail address",
} as const;

const PASSWORD = {
  type: "string",
  minLength: LEAST_PASSWORD,
  maxLength: MAX_PASSWORD,
  description: `${LEAST_PASSWORD} characters at least`,
} as const;

const GROUPS = {
  type: "array",
  items: {
    type: "string",
    minLength: 1,
    maxLength: 256,
    pattern: "^[^\\p{Cc}\\p{Cs}]+$",
    description: "a name of 1 to 256 characters",
  },
  maxItems: 500,
  uniqueItems: true,
} as const;

/** Credentials to compare with stored ones. They need not follow the rules for new ones. */
const CREDENTIAL = { type: "string", maxLength: MAX_PASSWORD } as const;

export const LOGIN = {
  type: "object",
  properties: { email: CREDENTIAL, password: CREDENTIAL },
  required: ["email", "password"],
  additionalProperties: false,
} as const;

export const SETUP = {
  type: "object",
  properties: { code: CREDENTIAL, email: EMAIL, password: PASSWORD },
  required: ["code", "email", "password"],
  additionalProperties: false,
} as const;

export const NEW_PASSWORD = {
  type: "object",
  properties: { password: PASSWORD },
  required: ["password"],
  additionalProperties: false,
} as const;

export const PASSWORD_CHANGE = {
  type: "object",
  properties: { current: CREDENTIAL, password: PASSWORD },
  required: ["current", "password"],
  additionalProperties: false,
} as const;

export const NEW_USER = {
  type: "object",
  properties: { email: EMAIL, role: ROLE, groups: { ...GROUPS, default: [] } },
  required: ["email", "role"],
  additionalProperties: false,
} as const;

export const USER_PATCH = {
  type: "object",
  properties: { email: EMAIL, role: ROLE, groups: GROUPS, disabled: { type: "boolean" } },
  additionalProperties: false,
} as const;

export const SECRET_VALUE = {
  type: "object",
  properties: {
    value: {
      type: "string",
      minLength: 1,
      maxLength: MAX_SECRET,
      pattern: SECRET_PATTERN,
      description: "one line, without control characters",
    },
  },
  required: ["value"],
  additionalProperties: false,
} as const;

export const LOGIN_START = {
  type: "object",
  properties: {
    returnTo: { type: "string", maxLength: 2_048, description: "the path of the gateway to come back to" },
  },
  additionalProperties: false,
} as const;

const LOGIN_STATE = {
  type: "object",
  properties: {
    state: { enum: ["none", "active", "expired"] },
    issuer: TEXT,
    scopes: { type: "array", items: TEXT },
    wanted: { type: "array", items: TEXT, description: "more scopes that the server requires: log in again" },
    since: DATE,
    expiresAt: { ...DATE, description: "of the token" },
    renews: { type: "boolean", description: "the token is renewed automatically" },
  },
  required: ["state"],
} as const;

const USER = {
  type: "object",
  properties: {
    uuid: { type: "string", format: "uuid" },
    email: TEXT,
    role: ROLE,
    groups: GROUPS,
    disabled: { type: "boolean" },
    suspended: {
      const: true,
      description: "the identity provider no longer lets the person in; ends with their next login",
    },
    invited: { const: true, description: "is not accepted yet" },
    identity: {
      type: "object",
      properties: { issuer: TEXT, subject: TEXT },
      description: "its identity at the identity provider",
    },
    createdAt: DATE,
    updatedAt: DATE,
  },
  required: ["uuid", "email", "role", "groups", "disabled", "createdAt", "updatedAt"],
} as const;

const INVITATION = {
  type: "object",
  properties: { url: TEXT, expiresAt: DATE },
  required: ["url", "expiresAt"],
} as const;

export const PEOPLE_COMPONENTS = {
  Login: LOGIN,
  Setup: SETUP,
  NewPassword: NEW_PASSWORD,
  PasswordChange: PASSWORD_CHANGE,
  NewUser: NEW_USER,
  UserPatch: USER_PATCH,
  SecretValue: SECRET_VALUE,
  User: USER,
  Invitation: INVITATION,
  UserInvited: {
    ...USER,
    properties: { ...USER.properties, invitation: INVITATION },
    required: [...USER.required, "invitation"],
  },
  Me: {
    type: "object",
    properties: {
      kind: { enum: ["account", "key", "token"] },
      id: TEXT,
      name: TEXT,
      role: ROLE,
      groups: GROUPS,
      actions: { type: "array", items: TEXT, description: "their rights" },
      account: USER,
      key: { type: "object", properties: { id: TEXT, name: TEXT } },
      gateway: {
        type: "object",
        properties: { url: { type: "string", description: "the address for clients" }, version: TEXT },
        required: ["url", "version"],
      },
    },
    required: ["kind", "id", "name", "role", "groups", "actions", "gateway"],
  },
  Grant: {
    type: "object",
    properties: {
      id: TEXT,
      client: {
        type: "object",
        properties: { id: TEXT, name: { type: "string", description: "the client's own name" } },
        required: ["id", "name"],
      },
      endpoint: { type: "string", description: "its name when it was allowed" },
      resource: { type: "string", description: "the address its tokens are valid for" },
      redirectHost: { type: "string", description: "where the client sends the user back to" },
      createdAt: DATE,
      lastUsedAt: { ...DATE, description: "when it last got tokens, to the hour" },
    },
    required: ["id", "client", "endpoint", "resource", "redirectHost", "createdAt", "lastUsedAt"],
  },
  MyEndpoint: {
    type: "object",
    properties: {
      uuid: { type: "string", format: "uuid" },
      name: TEXT,
      description: TEXT,
      surface: TEXT,
      openapi: { type: "boolean" },
      url: { type: "string", description: "the address to give to a client" },
      access: {
        type: "object",
        properties: { keys: { type: "boolean" }, oauth: { type: "boolean" } },
        required: ["keys", "oauth"],
      },
    },
    required: ["uuid", "name", "surface", "openapi", "url", "access"],
  },
  LoginStart: LOGIN_START,
  LoginState: LOGIN_STATE,
  LoginAddress: {
    type: "object",
    properties: {
      url: { type: "string", description: "to be opened in the browser that asked" },
      expiresAt: DATE,
    },
    required: ["url", "expiresAt"],
  },
  OwnServer: {
    type: "object",
    properties: {
      server: { type: "string", format: "uuid" },
      name: TEXT,
      needs: {
        enum: ["login", "values"],
        description: "login: the account logs in there; secrets: the account stores secrets for it",
      },
      ready: { type: "boolean", description: "the account can use it" },
      login: LOGIN_STATE,
      missing: { type: "array", items: TEXT, description: "names of secrets" },
      reason: { type: "string", description: "why it cannot be used, if there is nothing to enter" },
      page: { type: "string", description: "the page that asks for what is missing" },
    },
    required: ["server", "name", "needs", "ready", "page"],
  },
  Secret: {
    type: "object",
    properties: { name: TEXT, updatedAt: DATE },
    required: ["name", "updatedAt"],
  },
} as const;

/** Schemas of accounts, logins, grants and the secrets of accounts. */
import { ROLES } from "../access/account.ts";
import { ACTIONS } from "../access/may.ts";
import { LEAST_PASSWORD, MAX_PASSWORD } from "../access/password.ts";
import { MAX_SECRET, SECRET_PATTERN } from "../access/user-secrets.ts";
import { ENDPOINT } from "../gateway/schemas.ts";
import {
  BOOLEAN,
  DATE,
  extended,
  list,
  named,
  object,
  type Static,
  TEXT,
  UUID,
} from "../kernel/json-schema.ts";

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

export const LOGIN = named("Login", object({ email: CREDENTIAL, password: CREDENTIAL }));

export const SETUP = named("Setup", object({ code: CREDENTIAL, email: EMAIL, password: PASSWORD }));

export const NEW_PASSWORD = named("NewPassword", object({ password: PASSWORD }));

export const PASSWORD_CHANGE = named("PasswordChange", object({ current: CREDENTIAL, password: PASSWORD }));

export const NEW_USER = named(
  "NewUser",
  object({ email: EMAIL, role: ROLE }, { groups: { ...GROUPS, default: [] } }),
);

export const USER_PATCH = named(
  "UserPatch",
  object({}, { email: EMAIL, role: ROLE, groups: GROUPS, disabled: BOOLEAN }),
);

export const SECRET_VALUE = named(
  "SecretValue",
  object({
    value: {
      type: "string",
      minLength: 1,
      maxLength: MAX_SECRET,
      pattern: SECRET_PATTERN,
      description: "one line, without control characters",
    },
  }),
);

export const USER = named(
  "User",
  object(
    {
      uuid: UUID,
      email: TEXT,
      role: ROLE,
      groups: GROUPS,
      disabled: BOOLEAN,
      createdAt: DATE,
      updatedAt: DATE,
    },
    {
      suspended: {
        const: true,
        description: "the identity provider no longer lets the person in; ends with their next login",
      },
      invited: { const: true, description: "is not accepted yet" },
      identity: {
        ...object({ issuer: TEXT, subject: TEXT }),
        description: "its identity at the identity provider",
      },
    },
  ),
);
export type User = Static<typeof USER>;

export const INVITATION = named("Invitation", object({ url: TEXT, expiresAt: DATE }));

export const USER_INVITED = named("UserInvited", extended(USER, { invitation: INVITATION }));

export const ME = named(
  "Me",
  object(
    {
      kind: { enum: ["account", "key", "token"] },
      id: TEXT,
      name: TEXT,
      role: ROLE,
      groups: GROUPS,
      actions: { ...list({ enum: ACTIONS }), description: "their rights" },
      gateway: object({ url: { ...TEXT, description: "the address for clients" }, version: TEXT }),
    },
    { account: USER, key: object({ id: TEXT, name: TEXT }) },
  ),
);
export type Me = Static<typeof ME>;

export const GRANT = named(
  "Grant",
  object({
    id: TEXT,
    client: object({ id: TEXT, name: { ...TEXT, description: "the client's own name" } }),
    endpoint: { ...TEXT, description: "its name when it was allowed" },
    resource: { ...TEXT, description: "the address its tokens are valid for" },
    redirectHost: { ...TEXT, description: "where the client sends the user back to" },
    createdAt: DATE,
    lastUsedAt: { ...DATE, description: "when it last got tokens, to the hour" },
  }),
);

export const MY_ENDPOINT = named(
  "MyEndpoint",
  object({
    uuid: UUID,
    name: TEXT,
    description: TEXT,
    surface: { enum: ENDPOINT.properties.surface.enum },
    openapi: BOOLEAN,
    url: { ...TEXT, description: "the address to give to a client" },
    access: object({ keys: BOOLEAN, oauth: BOOLEAN }),
  }),
);

export const LOGIN_START = named(
  "LoginStart",
  object(
    {},
    {
      returnTo: { type: "string", maxLength: 2_048, description: "the path of the gateway to come back to" },
    },
  ),
);

export const SECRET = named("Secret", object({ name: TEXT, updatedAt: DATE }));

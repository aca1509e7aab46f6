/** Logins at servers, as people see them. */
import { BOOLEAN, DATE, named, object, type Static, TEXT, TEXTS, UUID } from "../../kernel/json-schema.ts";

export const LOGIN_STATE = named(
  "LoginState",
  object(
    { state: { enum: ["none", "active", "expired"] } },
    {
      issuer: TEXT,
      scopes: TEXTS,
      wanted: { ...TEXTS, description: "more scopes that the server requires: log in again" },
      since: DATE,
      expiresAt: { ...DATE, description: "of the token" },
      renews: { ...BOOLEAN, description: "the token is renewed automatically" },
    },
  ),
);
export type LoginState = Static<typeof LOGIN_STATE>;

export const LOGIN_ADDRESS = named(
  "LoginAddress",
  object({ url: { ...TEXT, description: "to be opened in the browser that asked" }, expiresAt: DATE }),
);
export type LoginAddress = Static<typeof LOGIN_ADDRESS>;

export const OWN_SERVER = named(
  "OwnServer",
  object(
    {
      server: UUID,
      name: TEXT,
      needs: {
        enum: ["login", "values"],
        description: "login: the account logs in there; values: the account stores secrets for it",
      },
      ready: { ...BOOLEAN, description: "the account can use it" },
      page: { ...TEXT, description: "the page that asks for what is missing" },
    },
    {
      login: LOGIN_STATE,
      missing: { ...TEXTS, description: "names of secrets" },
      reason: { ...TEXT, description: "why it cannot be used, if there is nothing to enter" },
    },
  ),
);
/** A server with per-account access, as one account sees it. */
export type OwnServer = Static<typeof OWN_SERVER>;

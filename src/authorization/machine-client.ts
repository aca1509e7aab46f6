/**
 * Machine clients at the authorization server: an administrator made them, and they get tokens for themselves
 * (`client_credentials`). Who they are and what they may use is in the key ring.
 */
import { randomBytes } from "node:crypto";
import { type AdapterPayload, errors } from "oidc-provider";
import type { KeyRing, KnownMachine } from "../access/key-ring.ts";
import { signs } from "../access/machine-client.ts";
import { SCOPE } from "./resource.ts";

/** Lifetime of their tokens, in seconds. A machine gets a new one without anybody's help. */
export const MACHINE_TOKEN_S = 600;
/** How far in the future an assertion may expire: its id is remembered until then. */
const MAX_ASSERTION_S = 3_600;
/** For clients whose clock is a little behind, as oidc-provider has it. */
const ASSERTION_GRACE_S = 15;

/** oidc-provider demands a secret. It is never compared: only its hash is known, see `compareSecrets`. */
const UNUSED_SECRET = randomBytes(32).toString("base64url");

export function machineMetadata(id: string, { name, client }: KnownMachine): AdapterPayload {
  const { jwks, jwksUri } = client;
  return {
    client_id: id,
    client_name: name,
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
    scope: SCOPE,
    ...(signs(client)
      ? { token_endpoint_auth_method: "private_key_jwt" }
      : { token_endpoint_auth_method: "client_secret_basic", client_secret: UNUSED_SECRET }),
    ...(jwks && { jwks: jwks as NonNullable<AdapterPayload["jwks"]> }),
    ...(jwksUri === undefined ? {} : { jwks_uri: jwksUri }),
  };
}

interface SecretHolder {
  readonly clientId: string;
  compareClientSecret: (this: SecretHolder, actual: string) => boolean | Promise<boolean>;
}

/** Lets the key ring compare the secrets of machine clients. */
export function compareSecrets(
  { prototype }: { readonly prototype: object },
  machines: Pick<KeyRing, "machineOf" | "isSecretOf">,
): void {
  const client = prototype as SecretHolder;
  const compare = client.compareClientSecret;
  client.compareClientSecret = function (this: SecretHolder, actual) {
    return machines.machineOf(this.clientId)
      ? machines.isSecretOf(this.clientId, actual)
      : compare.call(this, actual);
  };
}

/**
 * `now` is the time of the database, by which ids of assertions are forgotten: a replica whose clock is
 * behind would take one that has expired a second time.
 */
export function checkAssertionEnd(exp: unknown, now: number): void {
  const inS = typeof exp === "number" ? exp - now / 1_000 : Number.NaN;
  if (!(inS > -ASSERTION_GRACE_S && inS <= MAX_ASSERTION_S))
    throw new errors.InvalidClientAuth("the assertion must expire within an hour, and not have expired");
}

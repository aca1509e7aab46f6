/**
 * Verifies logout tokens of the identity provider (OpenID Connect Back-Channel Logout 1.0, section 2.6). Each
 * is accepted once.
 */
import { createHash } from "node:crypto";
import { StoreError } from "../store/error.ts";
import type { Store } from "../store/store.ts";
import type { IdentityProvider } from "./identity-provider.ts";

/** The kind of record. */
const USED = "oidc-logout-token";
const EVENT = "http://schemas.openid.net/event/backchannel-logout";
const MAX_AGE_S = 5 * 60;
const CLOCK_TOLERANCE_S = 30;
/** Longer than a token can be valid, so that a used one is known as long as it could be used again. */
const KEPT_MS = 2 * (MAX_AGE_S + CLOCK_TOLERANCE_S) * 1_000;

export interface ProviderLogout {
  readonly issuer: string;
  /** At least one of them is set. */
  readonly subject?: string | undefined;
  readonly sid?: string | undefined;
}

/** Rejects with an error for a token that is invalid or was used before. */
export async function verifyLogoutToken(
  token: string,
  provider: IdentityProvider,
  store: Pick<Store, "records">,
  now: () => number = Date.now,
): Promise<ProviderLogout> {
  const { jwtVerify } = await import("jose");
  const { issuer, keys, algorithms } = await provider.verification();
  const { payload } = await jwtVerify(token, keys, {
    issuer,
    audience: provider.settings.clientId,
    algorithms,
    maxTokenAge: MAX_AGE_S,
    clockTolerance: CLOCK_TOLERANCE_S,
    requiredClaims: ["iat", "jti", "events"],
    currentDate: new Date(now()),
  });
  const { sub: subject, sid, jti, events, nonce } = payload;
  // A nonce is in every id token, which must not be accepted as a logout token.
  if (nonce !== undefined) throw new Error("a logout token must not have a nonce");
  if (!isEvent(events)) throw new Error("the token is not about a logout");
  if (sid !== undefined && (typeof sid !== "string" || sid === "")) throw new Error("sid must be a text");
  if (subject === undefined && sid === undefined) throw new Error("the token names neither sub nor sid");
  if (typeof jti !== "string" || jti === "") throw new Error("jti must be a text");
  await useUp(jti, store, now());
  return { issuer, subject, sid };
}

function isEvent(events: unknown): boolean {
  if (typeof events !== "object" || events === null || !Object.hasOwn(events, EVENT)) return false;
  const event = (events as Record<string, unknown>)[EVENT];
  return typeof event === "object" && event !== null && !Array.isArray(event);
}

async function useUp(jti: string, { records }: Pick<Store, "records">, now: number): Promise<void> {
  const id = createHash("sha256").update(jti).digest("base64url");
  try {
    await records.put({ kind: USED, id, value: {}, expiresAt: now + KEPT_MS, ifVersion: 0 });
  } catch (error) {
    if (!StoreError.is(error, "conflict")) throw error;
    throw new Error("the token was used before", { cause: error });
  }
}

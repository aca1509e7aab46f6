/** An API key: what is stored of it, what is shown of it, and how its text becomes the hash that it is known by. */
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import type { Tier } from "../kernel/principal.ts";
import type { Role } from "./account.ts";

/** What a key may do: open endpoints, or the admin API with a role. Of an account's key: at most what the account may. */
export interface KeyLimits {
  /** Uuids of the endpoints that it opens. */
  readonly endpoints?: readonly string[] | "all" | undefined;
  /** Opens the admin API in place of endpoints. */
  readonly role?: Role | undefined;
  /** Only tools of these tiers; all unless given. */
  readonly tiers?: readonly Tier[] | undefined;
  /** ISO 8601. */
  readonly expiresAt?: string | undefined;
}

export interface ApiKey extends KeyLimits {
  /** A uuid. */
  readonly id: string;
  readonly name: string;
  readonly description?: string | undefined;
  /** Uuid of the account that owns it. */
  readonly owner?: string | undefined;
  /** The beginning of its text, to tell keys apart by. */
  readonly prefix: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly lastUsedAt?: string | undefined;
}

/** As it is kept: the key itself is nowhere. */
export interface StoredKey extends Omit<ApiKey, "id" | "lastUsedAt"> {
  readonly hash: string;
}

/** The kind of records that keys are. */
export const API_KEY = "api-key";
/** When each was last used: records of their own, so that nobody reads all keys again for it. */
export const API_KEY_USE = "api-key-use";

const MARK = "mmcp_";
const SECRET_BYTES = 32;
/** Enough to tell keys apart, too little to guess one from. */
const SHOWN = 13;
/** Keys of the system that a gateway can be moved from. */
const FOREIGN = /^sk_mt_[\w-]{16,256}$/;

/** A new key. Its text is shown once. */
export function newKeyText(): { readonly id: string; readonly text: string } {
  const id = randomUUID();
  return { id, text: `${MARK}${id.replaceAll("-", "")}_${randomBytes(SECRET_BYTES).toString("base64url")}` };
}

/** Whether a text is a key that another system made and that can be taken over. */
export function isForeignKey(text: string): boolean {
  return FOREIGN.test(text);
}

/** The same in every gateway on one store: `pepper` is derived from its secret. */
export function hashOf(text: string, pepper: Buffer): string {
  return createHmac("sha256", pepper).update(text).digest("base64url");
}

export function prefixOf(text: string): string {
  return text.slice(0, SHOWN);
}

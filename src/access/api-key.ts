/** API keys: the stored and the visible fields, the text of new keys, and the hash of a text. */

import { randomBytes, randomUUID } from "node:crypto";
import { keyedHash } from "../kernel/keyed-hash.ts";
import type { Tier } from "../kernel/principal.ts";
import type { Role } from "./account.ts";
import type { MachineClient } from "./machine-client.ts";

/**
 * What a key may access: endpoints, or the admin API with a role. A key of an account never has more rights
 * than the account.
 */
export interface KeyLimits {
  /** Uuids of the endpoints that it is valid for. */
  readonly endpoints?: readonly string[] | "all" | undefined;
  /** Gives access to the admin API with this role, instead of endpoints. */
  readonly role?: Role | undefined;
  /** Only tools of these tiers. Default: all. */
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
  /** Set for a machine client. The key is not sent with requests then: its tokens are. */
  readonly machine?: MachineClient | undefined;
  /** The beginning of its text, so that people can recognize the key. */
  readonly prefix: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly lastUsedAt?: string | undefined;
  /** When it got its current text, if it was rotated. ISO 8601. */
  readonly rotatedAt?: string | undefined;
  /** Until when its former text is valid. ISO 8601. */
  readonly overlapUntil?: string | undefined;
}

/** The stored form. The text of the key is not stored. */
export interface StoredKey extends Omit<ApiKey, "id" | "lastUsedAt"> {
  readonly hash: string;
  /** The hash of the former text, which is valid until `overlapUntil`. */
  readonly formerHash?: string | undefined;
}

/** The kind of record. */
export const API_KEY = "api-key";
/**
 * The kind of record with the time of last use. It is separate, so that a use does not make every gateway
 * read all keys again.
 */
export const API_KEY_USE = "api-key-use";

const PREFIX = "mmcp_";
const SECRET_BYTES = 32;
/** Long enough to recognize a key, too short to guess it. */
const PREFIX_LENGTH = 13;
/** Keys of the older MetaMCP. */
const FOREIGN = /^sk_mt_[\w-]{16,256}$/;

/** Creates id and text of a new key. The text is shown only once. */
export function newKeyText(id: string = randomUUID()): { readonly id: string; readonly text: string } {
  return {
    id,
    text: `${PREFIX}${id.replaceAll("-", "")}_${randomBytes(SECRET_BYTES).toString("base64url")}`,
  };
}

/** Whether a text is a key of the older MetaMCP, which can be imported. */
export function isForeignKey(text: string): boolean {
  return FOREIGN.test(text);
}

/** `pepper` is derived from the secret of the store, so every gateway on the store computes the same hash. */
export function hashOf(text: string, pepper: Buffer): string {
  return keyedHash(pepper, text);
}

export function prefixOf(text: string): string {
  return text.slice(0, PREFIX_LENGTH);
}

/** Encryption of secrets in the store: AES-256-GCM, with the id of the key in each sealed text. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { StoreError } from "./error.ts";

/** The key id, then nonce, tag and ciphertext as base64url. */
const SEALED = /^sealed:1:([\da-f]{16}):([\w-]+)$/;
const NONCE = 12;
const TAG = 16;

const SHORTEST = 32;
const LONGEST = 1_024;
const FEWEST_DIFFERENT = 10;

export const KEY_RULE = `${SHORTEST} to ${LONGEST} random characters without spaces (create one with: openssl rand -hex 32)`;

export interface Key {
  readonly id: string;
  readonly bytes: Buffer;
}

/**
 * Any random text can be a key. The text itself is used, not the bytes that it may encode. Surrounding
 * whitespace is ignored, because files end with a line break.
 */
export function readKey(given: string, name: string): Key {
  const text = given.trim();
  const fits = text.length >= SHORTEST && text.length <= LONGEST && !/[\s\p{Cc}]/u.test(text);
  if (!fits || new Set(text).size < FEWEST_DIFFERENT)
    throw new StoreError("key_weak", `${name} is not a usable secret key; it needs ${KEY_RULE}`);
  return { id: deriveBytes(text, "id", 8).toString("hex"), bytes: deriveBytes(text, "seal", 32) };
}

export function newKeyText(): string {
  return randomBytes(32).toString("hex");
}

/** Derives bytes for one purpose. They reveal neither the secret nor the bytes of other purposes. */
export function deriveBytes(secret: string | Buffer, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "metamcp", purpose, length));
}

export function seal(key: Key, text: string): string {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv("aes-256-gcm", key.bytes, nonce);
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return `sealed:1:${key.id}:${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url")}`;
}

export function open(key: Key, sealed: string): string {
  const [, id, data = ""] = SEALED.exec(sealed) ?? [];
  const bytes = Buffer.from(data, "base64url");
  if (id !== key.id) throw new StoreError("key_wrong", "this was encrypted with another secret key");
  try {
    const decipher = createDecipheriv("aes-256-gcm", key.bytes, bytes.subarray(0, NONCE), {
      authTagLength: TAG,
    });
    decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString("utf8");
  } catch (error) {
    throw new StoreError("key_wrong", "this encrypted text was changed or cut off", error);
  }
}

export function keyIdOf(sealed: string): string | undefined {
  return SEALED.exec(sealed)?.[1];
}

/**
 * Reseals every text in the JSON that `from` sealed with `to`. Text that only looks sealed stays unchanged.
 */
export function resealJson(json: string, from: Key, to: Key): string {
  return JSON.stringify(JSON.parse(json, (_, value: unknown) => resealed(value, from, to)));
}

function resealed(value: unknown, from: Key, to: Key): unknown {
  if (typeof value !== "string" || keyIdOf(value) !== from.id) return value;
  try {
    return seal(to, open(from, value));
  } catch {
    return value;
  }
}

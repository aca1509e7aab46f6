/** Secrets at rest: AES-256-GCM, with the id of the key beside each. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { StoreError } from "./error.ts";

/** Key id, then nonce, tag and ciphertext as base64url. */
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
 * Any random text is a key: hex, base64 or else. The text itself counts, not what it may encode. Line breaks around it
 * do not, as files end with one.
 */
export function readKey(given: string, name: string): Key {
  const text = given.trim();
  const fits = text.length >= SHORTEST && text.length <= LONGEST && !/[\s\p{Cc}]/u.test(text);
  if (!fits || new Set(text).size < FEWEST_DIFFERENT)
    throw new StoreError("key_weak", `${name} is not a usable secret key; it needs ${KEY_RULE}`);
  return { id: stretch(text, "id", 8).toString("hex"), bytes: stretch(text, "seal", 32) };
}

export function newKeyText(): string {
  return randomBytes(32).toString("hex");
}

/** Bytes for one purpose. One purpose tells nothing of another, nor of the secret. */
export function stretch(secret: string | Buffer, purpose: string, length: number): Buffer {
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

/** JSON with every text that `from` sealed sealed by `to`. What only looks sealed stays as it is. */
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

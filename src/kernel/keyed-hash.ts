/** A hash that only holders of the key can compute: HMAC-SHA256 as base64url. */
import { createHmac } from "node:crypto";

export function keyedHash(key: Buffer, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

/** The hash of a session id, for people. The id itself gives access to the session and is never shown. */
import { createHash } from "node:crypto";

const LENGTH = 16;

export function sessionHash(id: string): string {
  return createHash("sha256").update(`session ${id}`).digest("hex").slice(0, LENGTH);
}

/** How a session is named where people look: its id opens it, so the id itself is shown nowhere. */
import { createHash } from "node:crypto";

const LENGTH = 16;

export function sessionHash(id: string): string {
  return createHash("sha256").update(`session ${id}`).digest("hex").slice(0, LENGTH);
}

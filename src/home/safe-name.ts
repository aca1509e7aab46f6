/** Turns a name that a user chose into one path segment. Different names give different segments. */
import { createHash } from "node:crypto";

const SAFE = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/;

/**
 * Returns the name if it is a safe file name, else a readable part and a hash joined by `~`, which no safe
 * name contains.
 */
export function safeName(name: string, platform: NodeJS.Platform = process.platform): string {
  // "GitHub" and "github" are the same folder on most file systems outside Linux.
  const caseSafe = platform === "linux" || name === name.toLowerCase();
  if (caseSafe && SAFE.test(name) && !name.endsWith(".")) return name;
  const readable = name.replaceAll(/[^A-Za-z0-9_-]+/g, "_").slice(0, 40);
  return `${readable}~${createHash("sha256").update(name).digest("hex").slice(0, 16)}`;
}

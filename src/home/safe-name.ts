/** A name of the user's as one path segment. Different names never share one. */
import { createHash } from "node:crypto";

const SAFE = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/;

/** The name itself where it is a safe file name, else a readable part of it and a hash, joined by `~`, which no safe name holds. */
export function safeName(name: string, platform: NodeJS.Platform = process.platform): string {
  // "GitHub" and "github" are one folder on most file systems outside Linux.
  const oneCase = platform === "linux" || name === name.toLowerCase();
  if (oneCase && SAFE.test(name) && !name.endsWith(".")) return name;
  const readable = name.replaceAll(/[^A-Za-z0-9_-]+/g, "_").slice(0, 40);
  return `${readable}~${createHash("sha256").update(name).digest("hex").slice(0, 16)}`;
}

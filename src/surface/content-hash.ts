/**
 * Hashes the searchable content of a snapshot. Equal content has an equal hash, regardless of the order of
 * servers and tools.
 */
import { createHash } from "node:crypto";
import type { Snapshot } from "../catalog/catalog.ts";
import type { Tool } from "../catalog/tool.ts";
import { perObject } from "../kernel/per-object.ts";

// Unchanged parts of a snapshot are the same objects in the next one.
export const contentHash = perObject(({ listings }: Snapshot): string => {
  const servers = [...listings].map(([server, { tools, about }]) => [
    server,
    toolsHash(tools),
    about.title,
    about.instructions,
  ]);
  return digest([JSON.stringify(servers.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)))]);
});

const toolsHash = perObject((tools: readonly Tool[]): string =>
  digest([...tools].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ definition }) => definition)),
);

/** The same only for the same tools in the same order. */
export const listHash = perObject((tools: readonly Tool[]): string =>
  digest(tools.map(({ definition }) => definition)),
);

export function digest(parts: Iterable<string | Uint8Array>): string {
  const hash = createHash("sha256");
  // Each part is preceded by its length, so that different parts never give the same bytes.
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("base64url").slice(0, 22);
}

/**
 * The fingerprint of a tool: a hash of the members that models and clients use, in canonical form. White
 * space and key order do not matter; every digit and character does.
 */
import { createHash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { members } from "../../rpc/slice.ts";
import type { Tool } from "../tool.ts";
import { canonical } from "./canonical.ts";

export interface Fingerprint {
  readonly name: string;
  readonly hash: string;
  /** The text that the hash is computed from. */
  readonly definition: string;
}

/** Sorted, as in the canonical form. */
const PARTS = ["annotations", "description", "inputSchema", "outputSchema", "title"] as const;
/** After this many bytes the event loop gets a turn. */
const BYTES_PER_TURN = 262_144;

export async function fingerprintsOf(tools: readonly Tool[]): Promise<readonly Fingerprint[]> {
  const fingerprints: Fingerprint[] = [];
  let bytes = 0;
  for (const tool of tools) {
    fingerprints.push(fingerprintOf(tool));
    bytes += tool.definition.length;
    if (bytes < BYTES_PER_TURN) continue;
    bytes = 0;
    await turn();
  }
  return fingerprints;
}

export function fingerprintOf({ name, definition: written }: Pick<Tool, "name" | "definition">): Fingerprint {
  const values = members(written, PARTS);
  const parts = PARTS.flatMap((part, at) => (values[at] ? [`"${part}":${canonical(values[at])}`] : []));
  const definition = `{${[`"name":${JSON.stringify(name)}`, ...parts].join(",")}}`;
  return { name, hash: sha256(definition), definition };
}

/** A hash of the whole list as written, to see quickly that nothing changed. */
export function digestOf(tools: readonly Pick<Tool, "definition">[]): string {
  const hash = createHash("sha256");
  for (const { definition } of tools) hash.update(`${definition.length}\n`).update(definition);
  return hash.digest("hex");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

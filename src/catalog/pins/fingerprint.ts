/**
 * The fingerprint of a tool: a hash of the members that models and clients use, in canonical form. White
 * space and key order do not matter; every digit and character does.
 */
import { createHash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import type { Raw } from "../../kernel/raw.ts";
import { members } from "../../rpc/slice.ts";
import { RULES } from "../signs/sign.ts";
import { canonical } from "./canonical.ts";
import type { PinnedKind } from "./change.ts";

/** A tool, a prompt, or the instructions of a server as one. */
export interface Pinnable {
  readonly name: string;
  readonly definition: Raw;
}

export interface Fingerprint {
  readonly name: string;
  readonly hash: string;
  /** The text that the hash is computed from. */
  readonly definition: string;
}

/** Sorted, as in the canonical form. */
const PARTS: { readonly [of in PinnedKind]: readonly string[] } = {
  tools: ["annotations", "description", "inputSchema", "outputSchema", "title"],
  prompts: ["arguments", "description", "title"],
  instructions: ["instructions"],
};
/** After this many bytes the event loop gets a turn. */
const BYTES_PER_TURN = 262_144;

export async function fingerprintsOf(
  of: PinnedKind,
  tools: readonly Pinnable[],
): Promise<readonly Fingerprint[]> {
  const fingerprints: Fingerprint[] = [];
  let bytes = 0;
  for (const tool of tools) {
    fingerprints.push(fingerprintOf(tool, of));
    bytes += tool.definition.length;
    if (bytes < BYTES_PER_TURN) continue;
    bytes = 0;
    await turn();
  }
  return fingerprints;
}

export function fingerprintOf(
  { name, definition: written }: Pinnable,
  of: PinnedKind = "tools",
): Fingerprint {
  const values = members(written, PARTS[of]);
  const parts = PARTS[of].flatMap((part, at) => (values[at] ? [`"${part}":${canonical(values[at])}`] : []));
  const definition = `{${[`"name":${JSON.stringify(name)}`, ...parts].join(",")}}`;
  return { name, hash: sha256(definition), definition };
}

/** A hash of the whole list as written, to see quickly that neither it nor the rules changed. */
export function digestOf(tools: readonly Pick<Pinnable, "definition">[]): string {
  const hash = createHash("sha256").update(`signs ${RULES}\n`);
  for (const { definition } of tools) hash.update(`${definition.length}\n`).update(definition);
  return hash.digest("hex");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

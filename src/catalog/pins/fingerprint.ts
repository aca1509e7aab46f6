/** The fingerprint of a tool: what a model or a client decides by, in one canonical form. Layout and order of keys say nothing; every digit and character does. */
import { createHash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { members } from "../../rpc/slice.ts";
import type { Tool } from "../tool.ts";
import { canonical } from "./canonical.ts";

export interface Print {
  readonly name: string;
  readonly hash: string;
  /** What the hash is of. */
  readonly definition: string;
}

/** Sorted, as in the canonical form. */
const PARTS = ["annotations", "description", "inputSchema", "outputSchema", "title"] as const;
/** Others get their turn after so many bytes. */
const STRETCH = 262_144;

export async function printsOf(tools: readonly Tool[]): Promise<readonly Print[]> {
  const prints: Print[] = [];
  let bytes = 0;
  for (const tool of tools) {
    prints.push(printOf(tool));
    bytes += tool.definition.length;
    if (bytes < STRETCH) continue;
    bytes = 0;
    await turn();
  }
  return prints;
}

export function printOf({ name, definition: written }: Pick<Tool, "name" | "definition">): Print {
  const values = members(written, PARTS);
  const parts = PARTS.flatMap((part, at) => (values[at] ? [`"${part}":${canonical(values[at])}`] : []));
  const definition = `{${[`"name":${JSON.stringify(name)}`, ...parts].join(",")}}`;
  return { name, hash: sha256(definition), definition };
}

/** Of a whole list exactly as written: quick to tell that nothing at all changed. */
export function digestOf(tools: readonly Pick<Tool, "definition">[]): string {
  const hash = createHash("sha256");
  for (const { definition } of tools) hash.update(`${definition.length}\n`).update(definition);
  return hash.digest("hex");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

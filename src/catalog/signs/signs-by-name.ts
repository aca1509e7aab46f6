/** The signs of all items of a list. The event loop gets a turn between them. */
import { setImmediate as turn } from "node:timers/promises";
import type { Sign, SignContext, SignedItem } from "./sign.ts";
import { textSigns } from "./text-signs.ts";

const BYTES_PER_TURN = 65_536;

/** By name; without the items that have none. */
export async function signsByName(
  items: readonly SignedItem[],
  context: SignContext,
): Promise<ReadonlyMap<string, readonly Sign[]>> {
  const found = new Map<string, readonly Sign[]>();
  let bytes = 0;
  for (const { name, definition } of items) {
    const signs = textSigns(definition, context);
    if (signs.length > 0) found.set(name, signs);
    bytes += definition.length;
    if (bytes < BYTES_PER_TURN) continue;
    bytes = 0;
    await turn();
  }
  return found;
}

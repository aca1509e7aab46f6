/**
 * Evidence from the other tools of a server: if they fit the question, the tool is more likely the right one.
 */
import type { Collection } from "./collection.ts";
import { scaleToBest } from "./keyword.ts";
import type { SearchView } from "./view.ts";

/** A server with more tools offers unrelated things, so its other tools are no evidence. */
const MAX_TOOLS = 60;

/**
 * For each of `slots`: the mean of the two best scores among the server's other tools in view; its own score
 * if there are none.
 */
export function siblingScores(
  scores: Float64Array,
  collection: Collection,
  view: SearchView,
  slots: readonly number[],
): Float64Array {
  const tops = new Map<Int32Array, TopScores>();
  return Float64Array.from(slots, (slot) => {
    const serverSlots = collection.at(slot)?.slots;
    const score = scores[slot] as number;
    if (!serverSlots) return score;
    let top = tops.get(serverSlots);
    if (!top) {
      top = topOf(serverSlots, scores, view.mask);
      tops.set(serverSlots, top);
    }
    if (top.tools < 2 || top.tools > MAX_TOOLS) return score;
    const [first, second, third] = top.best;
    // Leaves out the tool itself by its score. Among tools with equal scores it does not matter which one is
    // left out.
    const a = score >= first ? second : first;
    const b = score >= second ? third : second;
    return top.tools === 2 ? a : (a + b) / 2;
  });
}

interface TopScores {
  /** How many tools of the server are in view. */
  readonly tools: number;
  readonly best: readonly [number, number, number];
}

function topOf(slots: Int32Array, scores: Float64Array, mask: Uint8Array | undefined): TopScores {
  let tools = 0;
  let first = 0;
  let second = 0;
  let third = 0;
  for (const slot of slots) {
    if (mask && mask[slot] !== 1) continue;
    tools++;
    const score = scores[slot] as number;
    if (score > first) [first, second, third] = [score, first, second];
    else if (score > second) [second, third] = [score, second];
    else if (score > third) third = score;
  }
  return { tools, best: [first, second, third] };
}

/**
 * For each of `slots`: the mean vector score of all its server's tools in view, as a share of the best
 * server.
 */
export function serverVectorScores(
  scores: Float64Array,
  collection: Collection,
  view: SearchView,
  slots: readonly number[],
): Float64Array {
  const means = new Map<Int32Array, number>();
  const out = Float64Array.from(slots, (slot) => {
    const serverSlots = collection.at(slot)?.slots;
    if (!serverSlots) return 0;
    const mean = means.get(serverSlots) ?? meanOf(serverSlots, scores, view.mask);
    means.set(serverSlots, mean);
    return mean;
  });
  scaleToBest(out);
  return out;
}

function meanOf(slots: Int32Array, scores: Float64Array, mask: Uint8Array | undefined): number {
  let sum = 0;
  let count = 0;
  for (const slot of slots) {
    if (mask && mask[slot] !== 1) continue;
    sum += scores[slot] as number;
    count++;
  }
  return Math.max(0, sum / count);
}

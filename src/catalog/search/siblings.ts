/** Evidence from the rest of a server: a tool among others that fit the question is likelier the one meant. */
import type { Collection } from "./collection.ts";
import type { SearchView } from "./view.ts";

/** Beyond this many tools a server is a collection of anything, and its other tools say nothing. */
const LARGEST_FAMILY = 60;

/** For each of `slots` the mean of the two best among the other tools in view; its own score where there are none. */
export function siblingSupport(
  own: Float64Array,
  collection: Collection,
  view: SearchView,
  slots: readonly number[],
): Float64Array {
  const tops = new Map<Int32Array, Top>();
  return Float64Array.from(slots, (slot) => {
    const family = collection.at(slot)?.slots;
    const score = own[slot] as number;
    if (!family) return score;
    let top = tops.get(family);
    if (!top) {
      top = topOf(family, own, view.mask);
      tops.set(family, top);
    }
    if (top.members < 2 || top.members > LARGEST_FAMILY) return score;
    const [first, second, third] = top.best;
    // Leaves the tool itself out: by value, so that among equals it does not matter which.
    const a = score >= first ? second : first;
    const b = score >= second ? third : second;
    return top.members === 2 ? a : (a + b) / 2;
  });
}

interface Top {
  readonly members: number;
  readonly best: readonly [number, number, number];
}

function topOf(family: Int32Array, own: Float64Array, mask: Uint8Array | undefined): Top {
  let members = 0;
  let first = 0;
  let second = 0;
  let third = 0;
  for (const slot of family) {
    if (mask && mask[slot] !== 1) continue;
    members++;
    const score = own[slot] as number;
    if (score > first) [first, second, third] = [score, first, second];
    else if (score > second) [second, third] = [score, second];
    else if (score > third) third = score;
  }
  return { members, best: [first, second, third] };
}

/** Cuts a page of entries so that it fits the budget of results. */

/** Space for the other members of an answer. */
const RESERVE = 2_000;

/** The first entries whose JSON, as a text within JSON, has at most `budget` bytes; at least one. */
export function pageWithin<T>(entries: readonly T[], budget: number): readonly T[] {
  let left = budget - RESERVE;
  const end = entries.findIndex((entry, at) => {
    left -= Buffer.byteLength(JSON.stringify(JSON.stringify(entry)));
    return left < 0 && at > 0;
  });
  return end < 0 ? entries : entries.slice(0, end);
}

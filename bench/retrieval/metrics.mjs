// Metrics of rankings: recall, reciprocal rank and nDCG as score.mjs of the data defines them, and
// calibration error.

export const METRICS = ["R@1", "R@5", "R@10", "MRR", "nDCG@5", "nDCG@10"];

/** Rank of each gold tool or of its best alternate, from 0; Infinity if not found. */
export function goldRanks(query, ranking) {
  const position = new Map();
  for (const [i, id] of ranking.entries()) if (!position.has(id)) position.set(id, i);
  return query.gold.map((gold) =>
    Math.min(
      ...[gold, ...(query.alternates?.[gold] ?? [])].map(
        (id) => position.get(id) ?? Number.POSITIVE_INFINITY,
      ),
    ),
  );
}

export function measure(ranks) {
  const recall = (k) => ranks.filter((rank) => rank < k).length / ranks.length;
  const first = Math.min(...ranks);
  const ndcg = (k) => {
    let gained = 0;
    let ideal = 0;
    for (const rank of ranks) if (rank < k) gained += 1 / Math.log2(rank + 2);
    for (let j = 0; j < Math.min(k, ranks.length); j++) ideal += 1 / Math.log2(j + 2);
    return Math.min(1, gained / ideal);
  };
  return [
    recall(1),
    recall(5),
    recall(10),
    first < Number.POSITIVE_INFINITY ? 1 / (first + 1) : 0,
    ndcg(5),
    ndcg(10),
  ];
}

/** Share of the servers with a gold tool that have any tool among the first five hits. */
export function serverRecall(query, ranking, serverOf) {
  const found = new Set(ranking.slice(0, 5).map(serverOf));
  const wanted = [
    ...new Set(
      query.gold.map((gold) => [gold, ...(query.alternates?.[gold] ?? [])].map(serverOf).join("\n")),
    ),
  ];
  return (
    wanted.filter((servers) => servers.split("\n").some((server) => found.has(server))).length / wanted.length
  );
}

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/**
 * Expected calibration error: mean difference between predicted and actual share of right hits, over ten
 * bands of equal width.
 */
export function calibrationError(pairs) {
  const bands = Array.from({ length: 10 }, () => ({ predicted: 0, actual: 0 }));
  for (const { confidence, right } of pairs) {
    const band = bands[Math.min(9, Math.floor(confidence * 10))];
    band.predicted += confidence;
    band.actual += right ? 1 : 0;
  }
  return (
    bands.reduce((sum, band) => sum + Math.abs(band.predicted - band.actual), 0) / Math.max(1, pairs.length)
  );
}

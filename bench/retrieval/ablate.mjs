// What each part adds: R@5 without it, and the paired bootstrap interval of the difference.
import { bootstrap, mean, measure } from "./metrics.mjs";

const R5 = 1;

export async function ablate(sets, code, rankSet) {
  const { MEASURED } = code;
  const without = (...parts) => ({
    ...MEASURED,
    evidence: { ...MEASURED.evidence, ...Object.fromEntries(parts.map((part) => [part, 0])) },
  });
  const variants = [
    ["bm25 (keywords only)", { ...MEASURED, strategy: "bm25" }],
    ["lexical (plain words)", { ...MEASURED, strategy: "lexical" }],
    ...Object.keys(MEASURED.evidence).map((part) => [`without ${part}`, without(part)]),
    ["without any meaning", without("meaning", "clauseMeaning")],
  ];
  const scores = async (settings) => {
    const bySet = [];
    for (const set of sets) bySet.push((await rankSet(set, settings)).map(({ ranks }) => measure(ranks)[R5]));
    return bySet;
  };
  const all = await scores(MEASURED);
  console.log(`\n${"R@5, paired".padEnd(26)} macro   difference to all, 95 %   per set (* significant)`);
  const show = (name, bySet) => {
    const differences = bySet.map((list, s) => list.map((value, i) => value - all[s][i]));
    const [low, high] = bootstrap(differences).map((value) => (100 * value).toFixed(1));
    const perSet = differences.map((list, s) => {
      const [from, to] = bootstrap([list], 500);
      return `${sets[s].name} ${(100 * mean(list)).toFixed(1)}${from > 0 || to < 0 ? "*" : ""}`;
    });
    const macro = mean(bySet.map(mean));
    const difference = (100 * mean(differences.map(mean))).toFixed(1);
    console.log(
      `${name.padEnd(26)} ${(100 * macro).toFixed(1)}   ${difference} (${low}..${high})   ${perSet.join(", ")}`,
    );
  };
  show("all", all);
  for (const [name, settings] of variants) show(name, await scores(settings));
}

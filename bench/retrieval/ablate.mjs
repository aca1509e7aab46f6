// Measures what each kind of evidence adds: R@5 without it, and the paired bootstrap interval of the difference.
import { bootstrap, mean, measure } from "./metrics.mjs";

const R5 = 1;

export async function ablate(sets, code, rankSet) {
  const { DEFAULT_SETTINGS } = code;
  const without = (...evidence) => ({
    ...DEFAULT_SETTINGS,
    evidence: { ...DEFAULT_SETTINGS.evidence, ...Object.fromEntries(evidence.map((key) => [key, 0])) },
  });
  const variants = [
    ["bm25 (keywords only)", { ...DEFAULT_SETTINGS, strategy: "bm25" }],
    ["lexical (plain words)", { ...DEFAULT_SETTINGS, strategy: "lexical" }],
    ...Object.keys(DEFAULT_SETTINGS.evidence).map((key) => [`without ${key}`, without(key)]),
    ["without any vectors", without("vector", "clauseVector")],
  ];
  const scores = async (settings) => {
    const bySet = [];
    for (const set of sets) bySet.push((await rankSet(set, settings)).map(({ ranks }) => measure(ranks)[R5]));
    return bySet;
  };
  const all = await scores(DEFAULT_SETTINGS);
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

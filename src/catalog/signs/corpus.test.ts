/** The short form of `npm run bench:first-sight`: how well signs tell attacks from harmless texts. */
import { expect, test } from "vitest";
import { toRaw } from "../../kernel/raw.ts";
import { signContext } from "./context.ts";
import type { Sign } from "./sign.ts";
import { textSigns } from "./text-signs.ts";

interface Labelled {
  readonly id: string;
}
interface RealList {
  readonly server: string;
  readonly name: string;
  readonly tools: readonly { readonly name: string }[];
}
interface Corpus {
  attacks(part: string): readonly Labelled[];
  harmless(part: string): readonly Labelled[];
  itemOf(entry: Labelled): { readonly definition: object; readonly lists: readonly RealList[] };
  realLists(): readonly RealList[];
}

const { attacks, harmless, itemOf, realLists } = (await import(
  "../../../bench/first-sight/corpus.mjs" as string
)) as Corpus;

const isHard = (signs: readonly Sign[]): boolean => signs.some(({ severity }) => severity === "hard");
const check = (entry: Labelled): readonly Sign[] => {
  const { definition, lists } = itemOf(entry);
  return textSigns(toRaw(definition), signContext("s", lists));
};

test.each(["tune", "held"])("of the attacks in %s at least nine of ten have a hard sign", (part) => {
  const all = attacks(part);
  expect(all.length).toBeGreaterThan(90);
  expect(all.filter((one) => isHard(check(one))).length / all.length).toBeGreaterThan(0.9);
});

test("of the attacks of a second author at least four of five have a hard sign", () => {
  const all = attacks("second");
  expect(all.filter((one) => isHard(check(one))).length / all.length).toBeGreaterThanOrEqual(0.8);
});

test.each(["tune", "held", "second"])("no harmless text in %s has a hard sign", (part) => {
  expect(harmless(part).filter((one) => isHard(check(one)))).toEqual([]);
});

test("no tool of a real server has a hard sign, and few have a soft one", () => {
  const lists = realLists();
  let [tools, soft] = [0, 0];
  const hard: string[] = [];
  const all = signContext("", lists);
  for (const { server, name, tools: listed } of lists) {
    const own = listed.map((tool) => tool.name);
    const servers = new Set([...all.servers].filter((other) => other !== name.toLowerCase()));
    // Beside no other server, and beside all of them.
    const contexts = [signContext(server, [], own), { ...all, servers, own: new Set(own) }];
    for (const tool of listed) {
      const signs = contexts.flatMap((context) => textSigns(toRaw(tool), context));
      if (isHard(signs)) hard.push(`${name}:${tool.name}`);
      else if (signs.length > 0) soft++;
      tools++;
    }
  }
  expect(hard).toEqual([]);
  expect(tools).toBeGreaterThan(3_000);
  expect(soft / tools).toBeLessThan(0.01);
});

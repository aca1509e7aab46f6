import fc from "fast-check";
import { expect, test } from "vitest";
import { confidencesOf } from "./confidence.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import type { SearchContext } from "./search-context.ts";

interface Asked {
  readonly words?: readonly string[];
  readonly unknown?: readonly string[];
  /** Of question and tool; without it there are no vectors. */
  readonly cosine?: number;
  readonly knownNames?: number;
  /** The similarity of the best example. */
  readonly example?: number;
}

/** The confidence of one hit. Of the unknown words, only "giraffe" is a word. */
function confidenceOf(hit: Partial<Ranked>, asked: Asked = {}) {
  const { words = ["note"], unknown = [], cosine, knownNames = 0.57, example = 0 } = asked;
  const vectors = {
    isWord: (word: string) => word === "giraffe",
    vectorOf: () => new Float32Array(1),
    matrix: { cosine: () => cosine },
  };
  const context = { vectors: cosine === undefined ? undefined : vectors } as unknown as SearchContext;
  const ranked = { slot: 0, score: 1, probability: 0.5, coverage: 1, exampleName: 0, ...hit };
  const similarExamples = [{ similarity: Math.max(example, ranked.exampleName), names: [] }];
  const question = { words, unknown, similarExamples } as unknown as Question;
  const [first] = confidencesOf(question, context, { hits: [ranked], knownNames, missingName: 0.5 });
  return first as NonNullable<typeof first>;
}

test("confidence and fit are in 0..1, and a more probable hit has no lower confidence", () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const cosine = fc.double({ min: -1, max: 1, noNaN: true });
  fc.assert(
    fc.property(share, share, share, share, cosine, (a, b, coverage, exampleName, similarity) => {
      const of = (probability: number) =>
        confidenceOf({ probability, coverage, exampleName }, { cosine: similarity });
      const low = of(Math.min(a, b));
      const high = of(Math.max(a, b));
      for (const value of [low.confidence, high.confidence, low.fit, high.fit]) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
      }
      expect(high.confidence).toBeGreaterThanOrEqual(low.confidence);
    }),
  );
});

test("a certain hit gets a high confidence, an impossible one none", () => {
  expect(confidenceOf({ probability: 1 }).confidence).toBeGreaterThan(0.95);
  expect(confidenceOf({ probability: 0 }).confidence).toBe(0);
});

test("the more names the examples know, the higher the confidence, within the range that was measured", () => {
  const half = (knownNames: number) => confidenceOf({ probability: 0.5 }, { knownNames }).confidence;
  expect(half(0.7)).toBeGreaterThan(half(0.6));
  expect(half(0.8)).toBeGreaterThan(0.7);
  expect(half(0)).toBe(half(0.6));
  expect(half(1)).toBe(half(0.85));
});

test("a hit needs something in common with the question: words, meaning or the name of an example", () => {
  const nothing = { coverage: 0, exampleName: 0 };
  expect(confidenceOf(nothing, { cosine: 0 }).confidence).toBe(0);
  const full = confidenceOf({}).confidence;
  expect(confidenceOf(nothing, { cosine: 0.5 }).confidence).toBe(full);
  expect(confidenceOf({ ...nothing, exampleName: 0.5 }).confidence).toBe(full);
  expect(confidenceOf({ ...nothing, coverage: 0.5 }).confidence).toBe(full);
  expect(confidenceOf({ ...nothing, coverage: 0.2 }).confidence).toBeCloseTo(full / 2, 2);
});

test("words that are no words lower the confidence; words of the language, numbers and other scripts do not", () => {
  const words = ["note", "second", "third", "fourth"];
  const withUnknown = (...unknown: string[]) => confidenceOf({}, { words, unknown, cosine: 0 }).confidence;
  const full = withUnknown();
  for (const known of ["giraffe", "2026", "笔记"]) expect(withUnknown(known)).toBe(full);
  expect(withUnknown("blorp")).toBeLessThan(full);
  expect(withUnknown("blorp", "zxqv")).toBeLessThan(withUnknown("blorp"));
  expect(confidenceOf({}, { words: ["blorp"], unknown: ["blorp"] }).confidence).toBe(0);
  expect(confidenceOf({}, { words: [] }).confidence).toBe(0);
});

test("the fit of a tool falls if an example wants a name that the tool does not have", () => {
  const hit = { coverage: 0.8, exampleName: 0.2 };
  const fit = (example: number) => confidenceOf(hit, { example }).fit;
  expect(fit(0.2)).toBe(fit(0));
  expect(fit(0.8)).toBeCloseTo(fit(0.2) - 0.3, 2);
  expect(confidenceOf({ coverage: 0.1 }, { example: 1 }).fit).toBe(0);
});

test("the fit of a tool hardly falls if other tools fit as well", () => {
  const alone = confidenceOf({ probability: 1 }, { cosine: 0.8 });
  const oneOfTen = confidenceOf({ probability: 0.1 }, { cosine: 0.8 });
  expect(oneOfTen.confidence).toBeLessThan(alone.confidence / 4);
  expect(oneOfTen.fit).toBeGreaterThan(0.7 * alone.fit);
});

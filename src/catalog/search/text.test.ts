import fc from "fast-check";
import { expect, test } from "vitest";
import { splitClauses } from "./clauses.ts";
import { describeLiterals } from "./literals.ts";
import { highest } from "./select.ts";
import { DEFAULT_SETTINGS, settingsWith } from "./settings.ts";
import { stem } from "./stem.ts";
import { contentWords, words } from "./words.ts";

test.each([
  ["getHTTPResponse_code2xx", ["get", "http", "response", "code", "2", "xx"]],
  ["list-pull-requests", ["list", "pull", "requests"]],
  ["don't stop, it's Anna's", ["don", "stop", "it", "anna"]],
  ["Café Ångström", ["cafe", "angstrom"]],
  ["天气预报", ["天气", "气预", "预报"]],
  ["поиск в моём чате", ["поиск", "в", "моем", "чате"]],
  ["검색 도구", ["검색", "도구"]],
  ["ｆｕｌｌ　ｗｉｄｔｈ", ["full", "width"]],
  ["🎉 (.*) \\", []],
])("words() splits %j", (text, parts) => {
  expect(words(text)).toEqual(parts);
});

test("contentWords() drops stop words", () => {
  expect(contentWords("Could you please show me a list of the files?")).toEqual(["show", "list", "files"]);
});

test.each([
  ["connections", "connect"],
  ["relational", "relat"],
  ["hopping", "hop"],
  ["files", "file"],
  ["queries", "queri"],
  ["news", "news"],
  ["policies", "policy"],
  ["generator", "generat"],
  ["constructor", "constructor"],
])("stem() turns %s into %s", (word, root) => {
  expect(stem(word)).toBe(root);
});

test("splitClauses() splits a question of several steps and returns nothing for a single step", () => {
  expect(
    splitClauses("Read the sales file, plot sales by month, and then save the figure somewhere", 8),
  ).toEqual(["Read the sales file", "plot sales by month", "save the figure somewhere"]);
  expect(splitClauses("read the file", 8)).toEqual([]);
  expect(splitClauses("one two. ".repeat(50), 8).length).toBeLessThanOrEqual(8);
});

test.each([
  ["save it to /home/me/out/report.md.", "markdown file path"],
  ["see https://www.youtube.com/watch?v=abc now", "youtube url"],
  ["mail bob@example.com", "email address"],
  ["open C:\\Users\\me\\x.xlsx", "excel spreadsheet file path"],
  ["read sales.csv", "csv file"],
  ["look in ~/projects/demo", "directory path"],
])("describeLiterals() replaces the literal in %j", (text, expected) => {
  expect(describeLiterals(text).replaceAll(/\s+/g, " ")).toContain(expected);
});

test("describeLiterals() does not change text without literals", () => {
  for (const text of ["read and/or write", "version 2.0", "fs.readFile", "e.g. this", "1/2 cup"]) {
    expect(describeLiterals(text)).toBe(text);
  }
});

test("highest() selects the same scores as sorting does", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -2, max: 20 })),
      fc.integer({ min: 0, max: 30 }),
      (scores, limit) => {
        const byScore = (a: number, b: number): number =>
          (scores[b] as number) - (scores[a] as number) || a - b;
        const sorted = [...scores.keys()]
          .filter((i) => (scores[i] as number) > 0)
          .sort(byScore)
          .slice(0, limit);
        expect(highest(Float64Array.from(scores), limit, (a, b) => a - b).sort(byScore)).toEqual(sorted);
      },
    ),
  );
});

test("settingsWith() replaces defaults by given values and ignores undefined ones", () => {
  expect(settingsWith({ k1: undefined, weights: { name: undefined } })).toEqual(DEFAULT_SETTINGS);
  expect(settingsWith({ strategy: "bm25", k1: 2, weights: { name: 5 }, maxResults: 20 })).toEqual({
    ...DEFAULT_SETTINGS,
    strategy: "bm25",
    k1: 2,
    weights: { ...DEFAULT_SETTINGS.weights, name: 5 },
    maxResults: 20,
  });
});

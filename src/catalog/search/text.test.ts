import fc from "fast-check";
import { expect, test } from "vitest";
import { clauses } from "./clauses.ts";
import { highest } from "./select.ts";
import { MEASURED, settingsWith } from "./settings.ts";
import { stem } from "./stem.ts";
import { nameThings } from "./things.ts";
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
])("takes %j apart", (text, parts) => {
  expect(words(text)).toEqual(parts);
});

test("drops words that tell nothing", () => {
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
])("stems %s to %s", (word, root) => {
  expect(stem(word)).toBe(root);
});

test("splits a question of several steps, and leaves one of one step alone", () => {
  expect(clauses("Read the sales file, plot sales by month, and then save the figure somewhere", 8)).toEqual([
    "Read the sales file",
    "plot sales by month",
    "save the figure somewhere",
  ]);
  expect(clauses("read the file", 8)).toEqual([]);
  expect(clauses("one two. ".repeat(50), 8).length).toBeLessThanOrEqual(8);
});

test.each([
  ["save it to /home/me/out/report.md.", "markdown file path"],
  ["see https://www.youtube.com/watch?v=abc now", "youtube url"],
  ["mail bob@example.com", "email address"],
  ["open C:\\Users\\me\\x.xlsx", "excel spreadsheet file path"],
  ["read sales.csv", "csv file"],
  ["look in ~/projects/demo", "directory path"],
])("says what is pasted in %j", (text, said) => {
  expect(nameThings(text).replaceAll(/\s+/g, " ")).toContain(said);
});

test("leaves other text as it is", () => {
  for (const text of ["read and/or write", "version 2.0", "fs.readFile", "e.g. this", "1/2 cup"]) {
    expect(nameThings(text)).toBe(text);
  }
});

test("picks the same scores as sorting does", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -2, max: 20 })),
      fc.integer({ min: 0, max: 30 }),
      (scores, most) => {
        const byScore = (a: number, b: number): number =>
          (scores[b] as number) - (scores[a] as number) || a - b;
        const sorted = [...scores.keys()]
          .filter((i) => (scores[i] as number) > 0)
          .sort(byScore)
          .slice(0, most);
        expect(highest(Float64Array.from(scores), most, (a, b) => a - b).sort(byScore)).toEqual(sorted);
      },
    ),
  );
});

test("what is given replaces the measured settings, what is undefined does not", () => {
  expect(settingsWith({ k1: undefined, weights: { name: undefined } })).toEqual(MEASURED);
  expect(settingsWith({ strategy: "bm25", k1: 2, weights: { name: 5 }, maxResults: 20 })).toEqual({
    ...MEASURED,
    strategy: "bm25",
    k1: 2,
    weights: { ...MEASURED.weights, name: 5 },
    maxResults: 20,
  });
});

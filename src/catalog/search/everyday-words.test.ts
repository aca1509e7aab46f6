import { expect, test } from "vitest";
import { EverydayWords, loadEverydayWords } from "./everyday-words.ts";
import { words } from "./words.ts";

const everyday = new EverydayWords(
  [
    "# PR: a comment",
    "pr, k8s = pull request",
    "get rid of > delete remove",
    "mail: email",
    "file a > create",
  ].join("\n"),
);
const tokens = (text: string) =>
  everyday.tokenize(words(text)).map(({ word, meanings }) => [word, ...meanings].join(" "));

test("a shorthand is followed by all its words; one that splits into several words is replaced", () => {
  expect(tokens("the PRs")).toEqual(["prs", "pull", "request"]);
  expect(tokens("my K8s")).toEqual(["pull", "request"]);
});

test("an expression of several words is replaced by its meanings, a single word stays beside them", () => {
  expect(tokens("get rid of the mail")).toEqual([" delete remove", "mail email"]);
});

test("an expression that is a verb is recognized only in verb position", () => {
  expect(tokens("file a mail")).toEqual([" create", "mail email"]);
  expect(tokens("open the file a colleague sent")).toEqual(["open", "file", "colleague", "sent"]);
  expect(tokens("can you file a mail")).toEqual([" create", "mail email"]);
});

test("the file that ships is loaded", async () => {
  const shipped = await loadEverydayWords();
  expect(shipped.tokenize(["pr"]).map(({ word }) => word)).toEqual(["pr", "pull", "request"]);
});

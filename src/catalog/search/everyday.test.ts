import { expect, test } from "vitest";
import { actionsOf, READS } from "./actions.ts";
import { Everyday, loadEveryday } from "./everyday.ts";
import { intentOf } from "./intent.ts";
import { words } from "./words.ts";

const everyday = new Everyday(
  [
    "# PR: no line",
    "pr, k8s = pull request",
    "get rid of > delete remove",
    "mail: email",
    "file a > create",
  ].join("\n"),
);
const read = (text: string) =>
  everyday.read(words(text)).map(({ word, meant }) => [word, ...meant].join(" "));

test("a shorthand stands beside all it stands for, however it is cut into words", () => {
  expect(read("the PRs")).toEqual(["prs", "pull", "request"]);
  expect(read("my K8s")).toEqual(["pull", "request"]);
});

test("a saying of several words stands for any of what it means, one of a single word stays", () => {
  expect(read("get rid of the mail")).toEqual([" delete remove", "mail email"]);
});

test("a saying that is a verb is none where no verb can stand", () => {
  expect(read("file a mail")).toEqual([" create", "mail email"]);
  expect(read("open the file a colleague sent")).toEqual(["open", "file", "colleague", "sent"]);
  expect(read("can you file a mail")).toEqual([" create", "mail email"]);
});

test.each([
  ["what changed in it", READS],
  ["delete what changed", actionsOf(["delete"])],
  ["how do I delete it", actionsOf(["delete"])],
  ["the latest of it", 0],
])("%j wants the actions %d", (text, mask) => {
  expect(intentOf(words(text), everyday.read(words(text)))).toBe(mask);
});

test("what ships is read", async () => {
  const shipped = await loadEveryday();
  expect(shipped.read(["pr"]).map(({ word }) => word)).toEqual(["pr", "pull", "request"]);
});

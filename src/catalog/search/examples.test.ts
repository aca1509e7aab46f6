import { expect, test } from "vitest";
import { EverydayWords, loadEverydayWords } from "./everyday-words.ts";
import { loadExamples, readExampleFiles } from "./load-examples.ts";
import { createSearch } from "./search.ts";
import { examplesOf, openExamples, readExamples } from "./stored-examples.ts";
import { tool } from "./tool.fixture.ts";
import { loadWordTable } from "./word-table.ts";
import { words } from "./words.ts";

const examples = examplesOf(
  [
    "# who is octocat -> a comment",
    "open a pr | put my branch up for review -> create pull request / create merge request",
    "who is octocat | look up a developer -> search users",
  ].join("\n"),
);
const similarTo = (text: string) => examples.similarTo(words(text));

test("a question finds similar groups, the most similar first, with the names of their tools", () => {
  const [first, ...others] = similarTo("who is the developer");
  expect(first?.names).toEqual([["search", "users"]]);
  expect(others.every(({ similarity }) => similarity <= (first?.similarity ?? 0))).toBe(true);
  expect(similarTo("review my branch")[0]?.names).toEqual([
    ["create", "pull", "request"],
    ["create", "merge", "request"],
  ]);
});

test("the same question has similarity 1, an unrelated one finds no group", () => {
  expect(similarTo("Open a PR!")[0]?.similarity).toBeCloseTo(1);
  expect(similarTo("is it of the")).toEqual([]);
  expect(similarTo("blorp")).toEqual([]);
});

test("a group with two similar questions ranks above a group with one that is more similar", () => {
  const groups = (orders: string) => examplesOf(`red shoes hurt -> find doctor\n${orders} -> order item`);
  const first = (orders: string) => groups(orders).similarTo(words("red shoes"))[0]?.names;
  expect(first("buy red shoes")).toEqual([["find", "doctor"]]);
  expect(first("buy red shoes | sell red shoes")).toEqual([["order", "item"]]);
});

test("the meanings of everyday expressions are compared too", () => {
  const similarity = (expression: string) =>
    examplesOf("delete the file -> delete file", new EverydayWords(expression)).similarTo(
      words("bin the file"),
    )[0]?.similarity;
  expect(similarity("bin > delete")).toBeGreaterThan(similarity("bin > keep") ?? 1);
});

test("word vectors raise the similarity of questions with the same meaning", async () => {
  const table = await loadWordTable();
  const [plain] = similarTo("look up a programmer");
  const [byMeaning] = examples.similarTo(words("look up a programmer"), table);
  expect(byMeaning?.similarity).toBeGreaterThan(plain?.similarity ?? 1);
});

test("examples count less for a long question", () => {
  const long = "open a pr for the change that anna and tom made last week after lunch in the old kitchen";
  const short = examplesOf(`${long} -> create pull request`);
  expect(short.similarTo(words(long))[0]?.similarity).toBeLessThan(0.9);
});

test("the order of equally frequent words does not decide which groups are found", () => {
  const lines = Array.from({ length: 240 }, (_, n) => (n % 2 === 0 ? "pay -> pay bill" : "rent -> rent car"));
  const names = (question: string) =>
    examplesOf(lines.join("\n"))
      .similarTo(words(question))
      .map(({ names: [first] }) => first);
  expect(names("pay rent")).toContainEqual(["pay", "bill"]);
  expect(names("pay rent")).toContainEqual(["rent", "car"]);
  expect(names("rent pay")).toEqual(names("pay rent"));
});

test("the examples that ship have a name in every group", async () => {
  const shipped = await loadExamples();
  expect(shipped.size).toBeGreaterThan(5000);
  for (const { names } of shipped.similarTo(words("who is octocat")))
    for (const name of names) expect(name.length).toBeGreaterThan(0);
});

test("the stored index finds the same groups as the text files", async () => {
  const read = await loadExamples();
  // At an odd place, as in a pool of buffers.
  const opened = openExamples(
    Buffer.concat([Buffer.alloc(1), await readExampleFiles()]).subarray(1),
    await loadEverydayWords(),
  );
  expect(opened?.size).toBe(read.size);
  const table = await loadWordTable();
  for (const question of ["who is octocat", "put my branch up for review", "bin the file"]) {
    expect(read.similarTo(words(question), table).length).toBeGreaterThan(0);
    expect(opened?.similarTo(words(question), table)).toEqual(read.similarTo(words(question), table));
  }
});

test("a stored index that is damaged or of a build with another form is ignored", () => {
  const everyday = new EverydayWords("");
  const reading = readExamples(["who is octocat -> search users"], everyday);
  reading.next();
  const file = reading.next().value as Buffer;
  const another = Buffer.from(file);
  another.writeUInt32LE(another.readUInt32LE(4) + 1, 4);
  const foreign = Buffer.from(file);
  foreign.subarray(0, 40).swap32();
  const damaged = [another, foreign, file.subarray(0, -1), Buffer.concat([file, Buffer.alloc(4)])];
  for (const bytes of [...damaged, Buffer.from('{"groups":[]}'), Buffer.alloc(0)])
    expect(openExamples(bytes, everyday)).toBeUndefined();
  expect(openExamples(file, everyday)).toBeDefined();
});

test("search finds a tool that shares no word with the question", async () => {
  const search = createSearch();
  search.update("hub", [tool("hub", "merge_pull_request"), tool("hub", "add_issue_comment")]);
  const [hit] = await search.search("get it into main", { limit: 1 });
  expect(hit?.name).toBe("merge_pull_request");
});

test("a question about several things finds the tool with the plural name", async () => {
  const search = createSearch();
  search.update("hub", [tool("hub", "list_issue"), tool("hub", "list_issues"), tool("hub", "add_label")]);
  const [hit] = await search.search("what bugs do we have", { limit: 1 });
  expect(hit?.name).toBe("list_issues");
});

test("a word of an example name that only hidden tools have counts as a word that no tool has", async () => {
  const seen = [tool("a", "get_thing"), tool("a", "list_things"), tool("a", "create_thing")];
  const scoped = createSearch();
  scoped.update("a", seen);
  scoped.update("b", [tool("b", "kubectl_get"), tool("b", "list_pods")]);
  const alone = createSearch();
  alone.update("a", seen);
  const question = "what is running in the cluster";
  const scope = (server: string) => server === "a";
  expect(await scoped.search(question, { limit: 5, scope })).toEqual(
    await alone.search(question, { limit: 5 }),
  );
});

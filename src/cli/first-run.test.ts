import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { galleryCandidates } from "../provision/gallery/gallery.ts";
import type { Command } from "./command.ts";
import { choiceOf, firstRun, welcome } from "./first-run.ts";
import { wrap } from "./wrap.ts";

const paths = [
  "/home/somebody/with-a-rather-long-name/projects/one/.mcp.json",
  "/home/somebody/.metamcp/mcp.json",
];

/** A person who gives these answers and then leaves, and commands that only note how they were run. */
async function visit(
  answers: readonly string[],
  names: readonly string[] = ["import", "add", "init"],
  looked: readonly string[] = [fileURLToPath(import.meta.url)],
) {
  const [said, ran, waiting]: string[][] = [[], [], [...answers]];
  const command = (name: string): Command => ({
    name,
    usage: name,
    summary: name,
    takes: [0, Number.POSITIVE_INFINITY],
    async run({ positionals, settings }) {
      ran?.push([name, ...positionals, settings.config].join(" "));
      return 0;
    },
  });
  const end = await firstRun({
    terminal: {
      say: (text) => void said?.push(text),
      ask: async () => waiting?.shift(),
      close: () => void said?.push("(closed)"),
    },
    commands: new Map(names.map((name) => [name, async () => ({ command: command(name) })])),
    paths: looked,
    flags: ["--config", "x.json"],
  });
  return { end, ran, said: said?.join("\n") ?? "" };
}

test("it fits a screen, and says where it looked", () => {
  const text = wrap(welcome(paths, 126, true), 79);
  expect(text.split("\n").length).toBeLessThan(24);
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(80);
  for (const part of [...paths, "import", "add", "126"]) expect(text).toContain(part);
  expect(welcome(paths, 126, false)).not.toContain("import");
});

test.each([
  ["", true, "import"],
  ["", false, "add"],
  [" IMPORT ", true, "import"],
  ["i", true, "import"],
  ["i", false, undefined],
  ["a", true, "add"],
  ["add", true, "add"],
  ["s", true, "serve"],
  ["q", true, "leave"],
  ["exit", true, "leave"],
  ["what?", true, undefined],
])("%j (import: %s) means %s", (answer, canImport, choice) => {
  expect(choiceOf(answer, canImport)).toBe(choice);
});

test("import is one return away, and what comes next is said", async () => {
  const { end, ran, said } = await visit([""]);
  expect([end, ran]).toEqual([0, ["import x.json"]]);
  expect(said).toMatch(/\(closed\)[\s\S]*metamcp doctor[\s\S]*metamcp init/);
});

test("who imports nothing is told how to add something", async () => {
  const { end, said } = await visit([""], undefined, paths);
  expect(end).toBe(0);
  expect(said).toMatch(/still no config[\s\S]*metamcp add --list/);
  expect(said).not.toContain("metamcp doctor");
});

test("without import it offers what there is", async () => {
  const { ran, said } = await visit(["import", "", "memory"], ["add"]);
  expect(said).toContain("Please write add, serve or quit.");
  expect(ran).toEqual(["add memory x.json"]);
  expect(said).not.toContain("metamcp init");
});

test("servers are found by a word for what they do, and added by their names", async () => {
  const { end, ran, said } = await visit(["add", "invoices", "qqqqqq", "memory, Playwright"]);
  expect([end, ran]).toEqual([0, ["add memory playwright x.json"]]);
  for (const { name, category } of await galleryCandidates()) {
    expect(said).toContain(name);
    expect(said).toContain(`${category}: `);
  }
  expect(said).toMatch(/stripe +Handle payments/);
  expect(said).toContain("no such server");
});

test.each([[[]], [["quit"]], [["add"]], [["add", ""]], [["add", "qqqqqq"]]])(
  "who leaves (%j) leaves nothing behind",
  async (answers) => {
    expect(await visit(answers)).toMatchObject({ end: 0, ran: [] });
  },
);

test("who wants to go on goes on", async () => {
  expect(await visit(["serve"])).toMatchObject({ end: "serve", ran: [] });
});

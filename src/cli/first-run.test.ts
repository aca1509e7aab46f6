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

/**
 * Runs the first-run dialog with these answers, after which the input ends. The commands only record how they
 * were run.
 */
async function runDialog(
  answers: readonly string[],
  names: readonly string[] = ["import", "add", "init"],
  configPaths: readonly string[] = [fileURLToPath(import.meta.url)],
) {
  const [output, ran, answersLeft]: string[][] = [[], [], [...answers]];
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
      say: (text) => void output?.push(text),
      ask: async () => answersLeft?.shift(),
      close: () => void output?.push("(closed)"),
    },
    commands: new Map(names.map((name) => [name, async () => ({ command: command(name) })])),
    paths: configPaths,
    flags: ["--config", "x.json"],
  });
  return { end, ran, output: output?.join("\n") ?? "" };
}

test("the welcome text fits a screen and names the paths where a config was searched", () => {
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

test("an empty answer runs import, and the next commands are shown", async () => {
  const { end, ran, output } = await runDialog([""]);
  expect([end, ran]).toEqual([0, ["import x.json"]]);
  expect(output).toMatch(/\(closed\)[\s\S]*metamcp doctor[\s\S]*metamcp init/);
});

test("an import without servers is followed by the hint how to add some", async () => {
  const { end, output } = await runDialog([""], undefined, paths);
  expect(end).toBe(0);
  expect(output).toMatch(/still no config[\s\S]*metamcp add --list/);
  expect(output).not.toContain("metamcp doctor");
});

test("without the import command the dialog offers only the other choices", async () => {
  const { ran, output } = await runDialog(["import", "", "memory"], ["add"]);
  expect(output).toContain("Please write add, serve or quit.");
  expect(ran).toEqual(["add memory x.json"]);
  expect(output).not.toContain("metamcp init");
});

test("the add dialog finds servers by a word for their purpose and adds them by name", async () => {
  const { end, ran, output } = await runDialog(["add", "invoices", "qqqqqq", "memory, Playwright"]);
  expect([end, ran]).toEqual([0, ["add memory playwright x.json"]]);
  for (const { name, category } of await galleryCandidates()) {
    expect(output).toContain(name);
    expect(output).toContain(`${category}: `);
  }
  expect(output).toMatch(/stripe +Handle payments/);
  expect(output).toContain("no such server");
});

test.each([[[]], [["quit"]], [["add"]], [["add", ""]], [["add", "qqqqqq"]]])(
  "the answers %j end the dialog without running a command",
  async (answers) => {
    expect(await runDialog(answers)).toMatchObject({ end: 0, ran: [] });
  },
);

test("the answer serve continues with serving", async () => {
  expect(await runDialog(["serve"])).toMatchObject({ end: "serve", ran: [] });
});

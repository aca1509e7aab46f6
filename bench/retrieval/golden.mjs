// Reads the question files in test/golden-retrieval. Each becomes a set, as data.mjs reads them from a data
// folder.
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const home = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "test", "golden-retrieval");

/** Files whose wrong results were read and used to improve the search. */
export const SEEN = [
  "asked.txt",
  "asked-again.txt",
  "everyday.txt",
  "questions.txt",
  "more/everyday.txt",
  "sixth/everyday.txt",
];
/** Files whose wrong results were never read. Only the network is trained on them. */
export const UNREAD = ["asked-later.txt", "unseen/everyday.txt", "unknown/everyday.txt"];
/** Files that nothing is fitted on. */
export const NEVER_FITTED = [
  "strange/everyday.txt",
  "seventh/everyday.txt",
  "eighth/everyday.txt",
  "ninth.txt",
  "tenth/everyday.txt",
];
export const GOLDEN = [...SEEN, ...UNREAD, ...NEVER_FITTED];

/** `files` are paths below test/golden-retrieval. The tools are in the folder `tools/` beside each file. */
export function readGolden(files) {
  return files.map((file) => ({
    name: file.replace(/\.txt$/, ""),
    tools: readTools(join(home, dirname(file), "tools")),
    queries: readQuestions(join(home, file)),
  }));
}

function readTools(folder) {
  return readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const { server, tools } = JSON.parse(readFileSync(join(folder, file), "utf8"));
      return tools.map((tool) => ({ ...tool, id: `${server}:${tool.name}`, server }));
    });
}

function readQuestions(path) {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line, i) => {
      const [text = "", tools = ""] = line.split(" -> ");
      const gold = tools.split(", ").map((equivalent) => equivalent.split("/"));
      return {
        id: `${basename(path)}:${i}`,
        text,
        gold: gold.map(([first]) => first),
        alternates: Object.fromEntries(gold.map(([first, ...others]) => [first, others])),
      };
    });
}

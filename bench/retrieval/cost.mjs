// What a search costs at 500, 5,000 and 50,000 tools: the sets' own tools, repeated under other server names.
// Wall time and processor time: on a busy machine the second is the truer one.
import { prepare } from "./data.mjs";

const SIZES = [500, 5_000, 50_000];
const QUERIES = 200;
const NOTHING = { limit: 1 };

export async function measureCost(sets, code) {
  const tools = spread(sets, "tools");
  const texts = spread(sets, "queries").map((query) => query.text);
  const collect = globalThis.gc ?? (() => {});
  console.log(`\n${"tools".padEnd(8)}${HEADINGS.map((name) => name.padStart(16)).join("")}`);
  for (const size of SIZES) {
    const { servers } = prepare(grown(tools, size));
    collect();
    const before = memory();
    const search = code.createSearch(code.MEASURED);
    const turns = watchTurns();
    const build = await time(async () => {
      for (const [server, { tools: list, text }] of servers) search.update(server, list, text);
      await search.search("", NOTHING);
    });
    const first = await time(() => search.search("read a file", { limit: 10 }));
    const longest = turns.stop();
    const times = [];
    for (const text of texts) await search.search(text, { limit: 10 });
    for (const text of texts) times.push(await time(() => search.search(text, { limit: 10 })));
    const [server, { tools: own, text }] = [...servers].find(([, { tools: list }]) => list.length > 9);
    const updates = [];
    for (let i = 0; i < 9; i++) {
      updates.push(
        await time(async () => {
          search.update(server, own, text);
          await search.search("", NOTHING);
        }),
      );
    }
    collect();
    const cells = [build, first, at(times, 0.5), at(times, 0.95), at(updates, 0.5), longest].map(both);
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

/** Milliseconds: on the wall, and of processor. */
async function time(run) {
  const start = performance.now();
  const usage = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(usage);
  return { wall: performance.now() - start, cpu: (user + system) / 1000 };
}

function at(times, share) {
  const pick = (key) =>
    times.map((entry) => entry[key]).sort((a, b) => a - b)[Math.floor(times.length * share)];
  return { wall: pick("wall"), cpu: pick("cpu") };
}

/** The longest work in one turn of the event loop, in milliseconds. */
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

/** A mix over all sets, the same each time. */
function spread(sets, key) {
  const most = key === "queries" ? QUERIES : 5_000;
  const seen = new Set();
  const out = [];
  for (let i = 0; out.length < most && sets.some((set) => i < set[key].length); i++) {
    for (const set of sets) {
      const row = set[key][i];
      if (row && !seen.has(row.id)) out.push(row);
      if (row) seen.add(row.id);
    }
  }
  return out;
}

function grown(tools, size) {
  return Array.from({ length: size }, (_, i) => {
    const tool = tools[i % tools.length];
    const round = Math.floor(i / tools.length);
    return round === 0 ? tool : { ...tool, id: `${tool.id}#${round}`, server: `${tool.server}-${round}` };
  });
}

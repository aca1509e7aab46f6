// What a search costs at 500, 5,000 and 50,000 tools: the sets' own tools, repeated under other server names.
import { fill } from "./data.mjs";

const SIZES = [500, 5_000, 50_000];
const QUERIES = 200;

export async function measureCost(sets, code) {
  const tools = spread(sets);
  const texts = spread(sets, "queries")
    .map((query) => query.text)
    .slice(0, QUERIES);
  const collect = globalThis.gc ?? (() => {});
  console.log(
    `\n${"tools".padEnd(8)}build ms  first ms   p50 ms   p95 ms  update ms  longest turn ms  memory MB`,
  );
  for (const size of SIZES) {
    collect();
    const before = memory();
    const search = code.createSearch(code.MEASURED);
    const rows = grown(tools, size);
    const turns = watchTurns();
    const start = performance.now();
    fill(search, rows);
    await search.search("", { limit: 1, scope: () => false });
    const build = performance.now() - start;
    const first = await time(() => search.search("read a file", { limit: 10 }));
    const longest = turns.stop();
    const times = [];
    for (const text of texts) await search.search(text, { limit: 10 });
    for (const text of texts) times.push(await time(() => search.search(text, { limit: 10 })));
    times.sort((a, b) => a - b);
    const { server } = rows[0];
    const own = rows.filter((row) => row.server === server);
    const updates = [];
    for (let i = 0; i < 9; i++) {
      updates.push(
        await time(async () => {
          fill(search, own);
          await search.search("", { limit: 1, scope: () => false });
        }),
      );
    }
    updates.sort((a, b) => a - b);
    collect();
    const cells = [
      build,
      first,
      times[times.length >> 1],
      times[Math.floor(times.length * 0.95)],
      updates[4],
      longest,
    ];
    const grew = globalThis.gc ? (memory() - before).toFixed(1) : "(run node --expose-gc)";
    console.log(
      `${String(size).padEnd(8)}${cells.map((value) => value.toFixed(2).padStart(9)).join("")}      ${grew}`,
    );
  }
}

const memory = () => {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
};

async function time(run) {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** The longest time that anything else had to wait. */
function watchTurns() {
  let longest = 0;
  let last = performance.now();
  let running = true;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    stop() {
      running = false;
      return longest;
    },
  };
}

/** A mix over all sets, the same each time. */
function spread(sets, key = "tools") {
  const out = [];
  for (let i = 0; out.length < 5_000; i++) {
    const row = sets.flatMap((set) => (i < set[key].length ? [set[key][i]] : []));
    if (row.length === 0) break;
    out.push(...row);
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

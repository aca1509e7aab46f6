// What the gateway's views cost: one tool switched in a namespace of 1,000 tools with 100 endpoints, and 100 namespaces
// over the same servers in memory. CPU until the next list shows the change, written out.
// usage: node --expose-gc bench/gateway/compile.mjs
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const folder = join(root, "node_modules", ".cache", "metamcp-bench-gateway");
const PARTS = {
  changes: "gateway/changes.ts",
  check: "gateway/schema-check.ts",
  compile: "gateway/compile.ts",
  imports: "gateway/import-servers.ts",
  objects: "gateway/objects.ts",
  uuid: "gateway/uuid.ts",
  views: "gateway/view/views.ts",
  readTool: "catalog/read-tool.ts",
  snapshot: "catalog/snapshot.ts",
  lists: "surface/aggregate/public-list.ts",
};

async function loadCode() {
  mkdirSync(folder, { recursive: true });
  const input = Object.fromEntries(
    Object.entries(PARTS).map(([name, path]) => [name, join(root, "src", path)]),
  );
  const bundle = await rolldown({ input, platform: "node" });
  const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" };
  await bundle.write({ dir: folder, format: "esm", ...names });
  await bundle.close();
  const load = async (name) => await import(pathToFileURL(join(folder, `${name}.mjs`)).href);
  const loaded = await Promise.all(Object.keys(PARTS).map(load));
  return Object.assign({}, ...loaded);
}

const code = await loadCode();
const schemas = await code.loadSchemaCheck();
let ids = 0;
const context = () => ({
  at: new Date(0).toISOString(),
  revision: 1,
  newId: () => code.uuidV7(ids++, new Uint8Array(10)),
  schemas,
  vault: { seal: (text) => ({ sealed: text }), open: ({ sealed }) => sealed },
  layers: () => [],
});
const place = { around: { path: "/c", folder: "/", env: {} }, vault: context().vault };

function setUp({ servers, tools, namespaces, endpoints, rules = () => [] }) {
  const names = Array.from({ length: servers }, (_, at) => `server${at}`);
  const mcpServers = Object.fromEntries(names.map((name) => [name, { command: "x" }]));
  let { objects } = code.importServers(code.NO_OBJECTS, { mcpServers }, context());
  const entries = names.map((server) => ({ server }));
  const uuids = [];
  for (let at = 0; at < namespaces; at++) {
    const input = { name: `n${at}`, servers: entries, tools: rules(at) };
    const made = code.create(objects, "namespace", input, context());
    objects = made.objects;
    uuids.push(made.object.uuid);
  }
  for (let at = 0; at < endpoints; at++) {
    const input = { name: `e${at}`, namespaces: [uuids[at % namespaces]], surface: "aggregate" };
    ({ objects } = code.create(objects, "endpoint", input, context()));
  }
  const listings = new Map(
    [...objects.server.keys()].map((uuid) => {
      const list = Array.from({ length: tools / servers }, (_, at) => code.readTool(uuid, definition(at)));
      return [uuid, new code.IndexedListing({ tools: list, source: "live", about: {} })];
    }),
  );
  return { objects, listingOf: (uuid) => listings.get(uuid) };
}

function definition(at) {
  const properties = Object.fromEntries(
    ["query", "limit", "cursor"].map((key) => [
      key,
      { type: "string", description: `what ${key} means `.repeat(4) },
    ]),
  );
  const description = "What it does, in about as many words as tools have. ".repeat(6);
  return Buffer.from(
    JSON.stringify({ name: `tool_${at}`, description, inputSchema: { type: "object", properties } }),
  );
}

const FORM = { member: "tools", key: "name" };
/** All pages of the list, one for each view. */
function write(views) {
  let bytes = 0;
  for (const view of new Set(views)) {
    const list = new code.PublicList(FORM, view.publicNames);
    for (let page = list.page(undefined); ; ) {
      bytes += page.length;
      const [, cursor] = /"nextCursor":"([^"]+)"\}$/.exec(page.toString("latin1", page.length - 200)) ?? [];
      if (cursor === undefined) break;
      page = list.page(cursor);
    }
  }
  return bytes;
}

function measureSwitch(title, given) {
  const { objects: first, listingOf } = setUp(given);
  const views = new code.Views();
  let objects = first;
  let { compiled } = code.compile(objects, place);
  const all = () => [...compiled.paths.values()].map((endpoint) => views.ofEndpoint(endpoint, listingOf));
  write(all());
  const times = { change: [], compile: [], list: [], all: [] };
  const before = views.counts;
  for (let n = 0; n < 100; n++) {
    const tools = [{ server: "server7", tool: `tool_${n % 10}`, disabled: true }];
    const t0 = now();
    ({ objects } = code.patch(objects, { kind: "namespace", reference: "n0" }, { tools }, context()));
    const t1 = now();
    const again = code.compile(objects, place, compiled);
    compiled = again.compiled;
    const shown = all();
    const t2 = now();
    write([shown[0]]);
    const t3 = now();
    times.change.push(t1 - t0);
    times.compile.push(t2 - t1);
    times.list.push(t3 - t2);
    times.all.push(t3 - t0);
    if (n === 99)
      console.log(
        `  compiled by the last: ${JSON.stringify(Object.fromEntries(Object.entries(again.work).map(([k, v]) => [k, v.length])))}`,
      );
  }
  const made = `${views.counts.servers - before.servers} server views, ${views.counts.views - before.views} views by 100 switches`;
  const line = Object.entries(times).map(([name, list]) => `${name} ${at(list, 0.5)} / ${at(list, 0.95)}`);
  console.log(`${title}: ${line.join(", ")} ms of CPU (p50 / p95); ${made}`);
}

/** CPU of this process in ms: on a busy machine time alone tells of the others. */
function now() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}

function at(list, share) {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length * share)].toFixed(2);
}

function used() {
  for (let n = 0; n < 4; n++) globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Everything is held: objects, compiled value, views, and each one's list of all names. */
function hold(given) {
  const { objects, listingOf } = setUp(given);
  const views = new code.Views();
  const { compiled } = code.compile(objects, place);
  const held = [...compiled.paths.values()].map((endpoint) => views.ofEndpoint(endpoint, listingOf));
  for (const view of held) void view.publicNames.size;
  return { objects, compiled, views, held };
}

function measureMemory(title, given) {
  const zero = used();
  const one = hold({ ...given, namespaces: 1, endpoints: 1 });
  const afterOne = used();
  const many = hold({ ...given, namespaces: 100, endpoints: 100 });
  const afterMany = used();
  const more = afterMany - afterOne - (afterOne - zero);
  console.log(
    `${title}: ${(more / 1e6).toFixed(2)} MB more than one namespace, ${(more / 99 / 1e3).toFixed(1)} KB each`,
  );
  return [one, many];
}

const kept = [];
if (globalThis.gc) {
  const small = { servers: 20, tools: 200 };
  const large = { servers: 20, tools: 1_000 };
  const rule = (n) => [{ server: `server${n % 20}`, tool: `tool_${n % 10}`, name: `other_${n}` }];
  kept.push(measureMemory("100 namespaces, 20 servers, 200 tools, all the same", small));
  kept.push(
    measureMemory("100 namespaces, 20 servers, 200 tools, an override each", { ...small, rules: rule }),
  );
  kept.push(measureMemory("100 namespaces, 20 servers, 1,000 tools, all the same", large));
  kept.push(
    measureMemory("100 namespaces, 20 servers, 1,000 tools, an override each", { ...large, rules: rule }),
  );
} else console.log("memory: run with --expose-gc");
const big = { servers: 50, tools: 1_000, endpoints: 100 };
measureSwitch("one tool switched, 1,000 tools, 100 endpoints of 1 namespace", { ...big, namespaces: 1 });
measureSwitch("one tool switched, 1,000 tools, 100 endpoints of 100 namespaces", { ...big, namespaces: 100 });
const ruled = (n) =>
  n > 0
    ? []
    : Array.from({ length: 1_000 }, (_, i) => ({
        server: `server${i % 50}`,
        tool: `tool_${Math.floor(i / 50)}`,
        title: "T",
      }));
measureSwitch("the same, with a rule for each of the 1,000 tools before", {
  ...big,
  namespaces: 1,
  rules: ruled,
});

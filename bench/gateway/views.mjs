// CPU of views, measured in this process: one of 1,000 tools is switched, and the number of recompiled parts.
import { median } from "../overhead/median.mjs";
import { definition } from "./many-servers.mjs";
import { row } from "./row.mjs";
import { cpu, load } from "./source.mjs";

const FORM = { member: "tools", key: "name" };

export async function measure({ of }) {
  const code = await load(
    "gateway/changes.ts",
    "gateway/schema-check.ts",
    "gateway/compile.ts",
    "gateway/import-servers.ts",
    "gateway/objects.ts",
    "gateway/uuid.ts",
    "gateway/view/views.ts",
    "catalog/read-tool.ts",
    "catalog/snapshot.ts",
    "surface/aggregate/public-list.ts",
    "kernel/raw.ts",
  );
  const bench = new Bench(code, await code.loadSchemaCheck());
  const endpoints = of(100, 5);
  const big = { servers: of(50, 10), tools: of(1_000, 100), endpoints };
  const rules = Array.from({ length: big.tools }, (_, at) => ({
    server: `server${at % big.servers}`,
    tool: `tool_${Math.floor(at / big.servers)}`,
    title: "T",
  }));
  const times = of(100, 3);
  const what = `one tool switched of ${big.tools.toLocaleString("en")}, ${endpoints} endpoints`;
  const one = bench.switching({ ...big, namespaces: 1 }, times);
  const apart = bench.switching({ ...big, namespaces: endpoints }, times);
  const ruled = bench.switching({ ...big, namespaces: 1, rules }, times);
  const figure = (title, { all }) =>
    row(title, median(all), { limit: 50, unit: " ms", note: `p95 ${at(all, 0.95).toFixed(1)} ms` });
  return [
    figure(`${what} of one namespace: CPU until the list is written`, one),
    figure(`${what}, a namespace each`, apart),
    figure(`${what} of one namespace, a rule for each tool`, ruled),
    row("… views compiled by one switch, a namespace each", apart.views, {
      limit: 1,
      note: `of ${endpoints}`,
    }),
    row("… parts of a view compiled, one for a server", apart.parts, { limit: 1, note: `of ${big.servers}` }),
  ];
}

function at(list, share) {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length * share)];
}

class Bench {
  #code;
  #schemas;
  #ids = 0;
  #vault = { seal: (text) => ({ sealed: text }), open: ({ sealed }) => sealed };
  constructor(code, schemas) {
    this.#code = code;
    this.#schemas = schemas;
  }

  get #context() {
    return {
      at: new Date(0).toISOString(),
      revision: 1,
      newId: () => this.#code.uuidV7(this.#ids++, new Uint8Array(10)),
      schemas: this.#schemas,
      vault: this.#vault,
      layers: () => [],
    };
  }

  /** Creates all objects and the tool list of each server. */
  #setUp({ servers, tools, namespaces, endpoints, rules = [] }) {
    const { importServers, create, readTool, toRaw, IndexedListing, NO_OBJECTS } = this.#code;
    const names = Array.from({ length: servers }, (_, n) => `server${n}`);
    const mcpServers = Object.fromEntries(names.map((name) => [name, { command: "x" }]));
    let { objects } = importServers(NO_OBJECTS, { mcpServers }, this.#context);
    const entries = names.map((server) => ({ server }));
    for (let n = 0; n < namespaces; n++) {
      const input = { name: `n${n}`, servers: entries, tools: n === 0 ? rules : [] };
      ({ objects } = create(objects, "namespace", input, this.#context));
    }
    for (let n = 0; n < endpoints; n++) {
      const input = { name: `e${n}`, namespaces: [`n${n % namespaces}`], surface: "aggregate" };
      ({ objects } = create(objects, "endpoint", input, this.#context));
    }
    const listings = new Map(
      [...objects.server.keys()].map((uuid) => {
        const list = Array.from({ length: tools / servers }, (_, n) => readTool(uuid, toRaw(definition(n))));
        return [uuid, new IndexedListing({ tools: list, source: "live", about: {} })];
      }),
    );
    return { objects, listingOf: (uuid) => listings.get(uuid) };
  }

  /**
   * CPU in ms of each switch, from the change until the list is written, and the average number of recompiled
   * views and parts.
   */
  switching(sizes, times) {
    const { Views, compile, patch } = this.#code;
    const { objects: first, listingOf } = this.#setUp(sizes);
    const environment = { entryContext: { path: "/c", folder: "/", env: {} }, vault: this.#vault };
    const views = new Views();
    let objects = first;
    let { compiled } = compile(objects, environment);
    const shown = () => [...compiled.paths.values()].map((endpoint) => views.ofEndpoint(endpoint, listingOf));
    for (const view of new Set(shown())) this.#write(view);
    const all = [];
    const before = { ...views.counts };
    for (let n = 0; n < times; n++) {
      const tools = [{ server: "server7", tool: `tool_${n % 10}`, disabled: true }];
      const since = cpu();
      ({ objects } = patch(objects, { kind: "namespace", reference: "n0" }, { tools }, this.#context));
      ({ compiled } = compile(objects, environment, compiled));
      this.#write(shown()[0]);
      all.push((cpu() - since) / 1e3);
    }
    const perSwitch = (kind) => (views.counts[kind] - before[kind]) / times;
    return { all, views: perSwitch("views"), parts: perSwitch("servers") };
  }

  /** Writes all pages of the list. */
  #write({ publicNames }) {
    const list = new this.#code.PublicList(FORM, publicNames);
    for (let cursor, first = true; first || cursor !== undefined; first = false) {
      const page = list.page(cursor);
      cursor = /"nextCursor":"([^"]+)"\}$/.exec(page.toString("latin1", page.length - 200))?.[1];
    }
  }
}

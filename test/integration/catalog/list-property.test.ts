/**
 * Random list changes over the real engine and real servers, with a manual clock. A client is notified
 * exactly when its list differs from the one it last saw. After everything has settled it knows the current
 * lists.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import { parseConfig } from "../../../src/config/load.ts";
import type { Config } from "../../../src/config/spec.ts";
import { createEngine } from "../../../src/engine/create-engine.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { Origin } from "../../../src/kernel/call.ts";
import { ManualClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { LOCAL, PERSONAL } from "../../../src/kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../../src/kernel/raw.ts";
import { CallSignal } from "../../../src/kernel/signal.ts";
import type { Message } from "../../../src/rpc/message.ts";
import { readMessage } from "../../../src/rpc/scan.ts";
import type { Session } from "../../../src/session/session.ts";
import { SURFACES } from "../../../src/surface/surfaces.ts";
import type { Host } from "../../../src/transport/transport.ts";
import { FULL } from "../../support/full.ts";
import { fixture, temp } from "../../support/temp.ts";

/** `METAMCP_LISTS=n` for more runs. */
const RUNS = Number(process.env["METAMCP_LISTS"] ?? (FULL ? 6 : 3));
const KINDS = ["tools", "prompts", "resources"] as const;
type Kind = (typeof KINDS)[number];
const SERVERS = ["a", "b"] as const;
type Server = (typeof SERVERS)[number];

const server = fc.constantFrom(...SERVERS);
const some = fc.subarray(["x", "y", "z"]);
const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("tools" as const), server, add: some, remove: some }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("items" as const),
      server,
      kind: fc.constantFrom("prompts" as const, "resources" as const),
      name: fc.constantFrom("p", "q"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("announce" as const),
      server,
      kind: fc.constantFrom(...KINDS),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("list" as const),
      client: fc.nat(2),
      kind: fc.constantFrom(...KINDS),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 60, 149, 150, 400, 1_200),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("config" as const) }) },
);
type Event = typeof event extends fc.Arbitrary<infer E> ? E : never;

const origin: Origin = {
  ...LOCAL,
  session: "the world",
  capabilities: EMPTY_OBJECT,
  uplink: { notify() {}, request: () => Promise.reject(new Error("nobody is here")) },
};

function namesIn(result: Raw): string {
  const [list = []] = Object.values(fromRaw(result) as Record<string, { name: string; uri?: string }[]>);
  return list
    .map(({ name, uri }) => uri ?? name)
    .sort()
    .join(" ");
}

/**
 * A client that remembers the lists it saw. Some clients list again when they are notified, others do not.
 */
class Client {
  readonly faults: string[] = [];
  readonly lastSeen = new Map<Kind, string>();
  notified = 0;
  readonly #session: Session;
  readonly #relists: boolean;
  readonly #shown: (kind: Kind) => string;
  readonly #waiting = new Map<string, (message: Message) => void>();
  #lastId = 0;

  constructor(host: Host, relists: boolean, shown: (kind: Kind) => string) {
    this.#relists = relists;
    this.#shown = shown;
    this.#session = host.open((message) => this.#receive(message), LOCAL.principal);
  }

  get waiting(): boolean {
    return this.#waiting.size > 0;
  }

  async begin(): Promise<void> {
    const clientInfo = { name: "c", version: "1" };
    await this.#request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    await Promise.all(KINDS.map((kind) => this.list(kind)));
  }

  async list(kind: Kind): Promise<string> {
    const message = await this.#request(`${kind}/list`, {}, (answer) => {
      if (answer.kind === "result") this.lastSeen.set(kind, namesIn(answer.result));
    });
    return message.kind === "result" ? namesIn(message.result) : `${message.kind}`;
  }

  #request(method: string, params: object, onAnswer?: (message: Message) => void): Promise<Message> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(String(id), (message) => {
        onAnswer?.(message);
        resolve(message);
      });
      const text = JSON.stringify({ jsonrpc: "2.0", id, method, params });
      this.#session.receive(readMessage(Buffer.from(text)));
    });
  }

  #receive(message: Message): void {
    if (message.kind === "notification") {
      const kind = KINDS.find((one) => message.method === `notifications/${one}/list_changed`);
      if (kind) this.#changed(kind);
    } else if (message.kind !== "request") {
      const id = String(message.id);
      const settle = this.#waiting.get(id);
      this.#waiting.delete(id);
      settle?.(message);
    }
  }

  #changed(kind: Kind): void {
    const now = this.#shown(kind);
    if (now === this.lastSeen.get(kind)) this.faults.push(`told of ${kind} that are still "${now}"`);
    this.notified++;
    this.lastSeen.set(kind, now);
    if (this.#relists) void this.list(kind);
  }
}

class Simulation {
  readonly clock = new ManualClock();
  readonly clients: Client[] = [];
  readonly #engine: Engine;
  readonly #config: (servers: readonly Server[]) => Promise<Config>;
  #servers: readonly Server[] = SERVERS;
  #host: Host | undefined;

  private constructor(config: Config, home: string, read: (servers: readonly Server[]) => Promise<Config>) {
    this.#config = read;
    this.#engine = createEngine({
      config,
      home,
      log: silentLog,
      clock: this.clock,
      maxMessageBytes: 1 << 20,
      code: false,
    });
  }

  static async open(relisting: readonly boolean[]): Promise<Simulation> {
    const folder = temp();
    const items = ["--prompts", "1", "--resources", "1", "--resource-base"];
    const read = (servers: readonly Server[]): Promise<Config> => {
      const entries = servers.map((name) => [
        name,
        { ...fixture(...items, `fixture://${name}/`), lifecycle: "keep-alive" },
      ]);
      const text = JSON.stringify({ mcpServers: Object.fromEntries(entries) });
      return parseConfig(folder.config, text, { env: folder.env });
    };
    const world = new Simulation(await read(SERVERS), folder.home, read);
    world.#host = world.#engine.open({ id: PERSONAL, surface: SURFACES.aggregate });
    for (const relists of relisting)
      world.clients.push(new Client(world.#host as Host, relists, (kind) => world.shown(kind)));
    await world.settled(Promise.all(world.clients.map((client) => client.begin())));
    return world;
  }

  /** The lists that the catalog currently has for a client. */
  shown(kind: Kind): string {
    const { listings } = this.#engine.scope.view(origin).snapshot;
    return this.#servers
      .flatMap((name) =>
        (listings.get(name)?.[kind] ?? []).map((item) =>
          kind === "resources" ? item.name : `${name}__${item.name}`,
        ),
      )
      .sort()
      .join(" ");
  }

  /** Advances the clock until the work is done. */
  async settled<T>(work: Promise<T>): Promise<T> {
    let over = false;
    const done = work.finally(() => {
      over = true;
    });
    done.catch(() => {});
    while (!over) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      this.clock.advance(5);
    }
    return await done;
  }

  async run(one: Event): Promise<void> {
    if (one.do === "wait") return this.clock.advance(one.ms);
    if (one.do === "list") return void this.clients[one.client % this.clients.length]?.list(one.kind);
    if (one.do === "config") return await this.#toggleConfig();
    if (!this.#servers.includes(one.server)) return;
    if (one.do === "tools") await this.#tool(one.server, "change", { add: one.add, remove: one.remove });
    else if (one.do === "items") await this.#tool(one.server, "change", { [one.kind]: [this.#nameOf(one)] });
    else await this.#tool(one.server, "notify", { method: `notifications/${one.kind}/list_changed` });
  }

  /** Waits until the lists of each child are in the catalog and every request is answered. */
  async waitForLists(): Promise<void> {
    const end = Date.now() + 30_000;
    for (;;) {
      const lists = this.#servers.flatMap((name) => KINDS.map((kind) => this.#listOfServer(name, kind)));
      const truth = await this.settled(Promise.all(lists));
      this.clock.advance(2_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const known = this.#servers.flatMap((name) => KINDS.map((kind) => this.#listInCatalog(name, kind)));
      if (JSON.stringify(truth) === JSON.stringify(known) && this.clients.every(({ waiting }) => !waiting))
        return this.clock.advance(2_000);
      if (Date.now() > end) throw new Error(`the catalog has ${known}, the servers ${truth}`);
    }
  }

  async close(): Promise<void> {
    await this.settled(this.#engine.close());
  }

  #nameOf({ server: name, kind, name: own }: Event & { do: "items" }): string {
    return kind === "resources" ? `fixture://${name}/${own}` : own;
  }

  async #toggleConfig(): Promise<void> {
    const servers = this.#servers.length > 1 ? (["a"] as const) : SERVERS;
    const config = await this.#config(servers);
    this.#servers = servers;
    this.#engine.apply(config);
  }

  #listInCatalog(name: Server, kind: Kind): string {
    const items = this.#engine.scope.view(origin).snapshot.listings.get(name)?.[kind] ?? [];
    return items
      .map((item) => item.name)
      .sort()
      .join(" ");
  }

  async #listOfServer(name: Server, kind: Kind): Promise<string> {
    return namesIn(await this.#call(name, `${kind}/list`, {}));
  }

  async #tool(name: Server, tool: string, args: object): Promise<void> {
    await this.settled(this.#call(name, "tools/call", { name: tool, arguments: args }));
  }

  #call(name: Server, method: string, params: object): Promise<Raw> {
    return this.#engine.scope.call({
      server: name,
      method,
      params: toRaw(params),
      origin,
      uplink: origin.uplink,
      signal: new CallSignal(),
      deadline: Number.POSITIVE_INFINITY,
      repeat: "safe",
    });
  }
}

test("a client is notified exactly when its list changed, and knows the current lists in the end", {
  timeout: 120_000 + RUNS * 15_000,
}, async () => {
  let notifications = 0;
  const property = fc.asyncProperty(
    fc.array(event, { minLength: 4, maxLength: 24 }),
    fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    async (events, relisting) => {
      const simulation = await Simulation.open(relisting);
      try {
        for (const one of events) await simulation.run(one);
        await simulation.waitForLists();
        for (const client of simulation.clients) {
          expect(client.faults).toEqual([]);
          for (const kind of KINDS) {
            expect(client.lastSeen.get(kind)).toBe(simulation.shown(kind));
            expect(await simulation.settled(client.list(kind))).toBe(simulation.shown(kind));
          }
          notifications += client.notified;
        }
      } finally {
        await simulation.close();
      }
    },
  );
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
  expect(notifications).toBeGreaterThan(0);
});

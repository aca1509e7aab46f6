import { expect, test } from "vitest";
import { listBy, openCatalog } from "../../test/support/catalog.ts";
import type { Ask } from "../catalog/list-all.ts";
import type { HandshakeResult } from "../child/handshake.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { type Log, silentLog } from "../kernel/log.ts";
import { type Raw, toRaw } from "../kernel/raw.ts";
import { Refresher } from "./refresh.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const handshake = (capabilities: object): HandshakeResult => ({
  era: "legacy",
  protocolVersion: "2025-11-25",
  capabilities: toRaw(capabilities),
  title: "T",
  version: undefined,
  instructions: "Be kind.",
});

function setUp() {
  const { clock, catalog } = openCatalog();
  catalog.configure(new Map([["s", { identity: "id", permits: () => true }]]));
  const warned: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warned.push(message) };
  const refresher = new Refresher({ catalog, clock, log });
  const asked: string[] = [];
  let tools = ["a"];
  const ask: Ask = async (method) => {
    asked.push(method);
    const named: Raw = toRaw({
      tools: tools.map((name) => ({ name })),
      prompts: [{ name: "p" }],
      resources: [],
    });
    return named;
  };
  const offer = (...names: string[]): void => {
    tools = names;
  };
  return { clock, catalog, refresher, asked, ask, offer, warned };
}

test("onHandshake requests only the lists that a child declares", async () => {
  const { refresher, asked, ask, catalog } = setUp();
  await refresher.onHandshake(listBy("s"), handshake({ tools: {}, prompts: {} }), ask);
  await turn();
  expect(asked).toEqual(["tools/list", "prompts/list"]);
  const listing = catalog.snapshot.listings.get("s");
  expect(listing?.about).toEqual({
    era: "legacy",
    title: "T",
    instructions: "Be kind.",
    offers: "prompts tools",
  });
  expect([listing?.prompts?.length, listing?.resources, listing?.templates]).toEqual([1, [], []]);
});

test("a child that reports changes all the time is asked at intervals, and once more after the last report", async () => {
  const { clock, refresher, asked, ask, offer, catalog } = setUp();
  await refresher.onHandshake(listBy("s"), handshake({ tools: {} }), ask);
  asked.length = 0;
  for (let n = 0; n < 1_000; n++) {
    refresher.onListChanged(listBy("s"), "notifications/tools/list_changed", ask);
    clock.advance(1);
    await turn();
  }
  expect(asked.length).toBeGreaterThan(5);
  expect(asked.length).toBeLessThan(20);
  offer("last");
  refresher.onListChanged(listBy("s"), "notifications/tools/list_changed", ask);
  for (let n = 0; n < 5; n++) {
    clock.advance(100);
    await turn();
  }
  expect(catalog.snapshot.tool("s", "last")).toBeDefined();
  expect(clock.pending).toBe(0);
});

test("a list that could not be read is requested again after the next change", async () => {
  const { clock, refresher, ask, catalog, offer } = setUp();
  await refresher.onHandshake(listBy("s"), handshake({ tools: {} }), ask);
  refresher.onListChanged(listBy("s"), "notifications/tools/list_changed", () =>
    Promise.reject(new Error("no")),
  );
  await turn();
  clock.advance(100);
  offer("b");
  refresher.onListChanged(listBy("s"), "notifications/tools/list_changed", ask);
  await turn();
  expect(catalog.snapshot.tool("s", "b")).toBeDefined();
  refresher.onListChanged(listBy("unknown"), "notifications/tools/list_changed", ask);
});

test("a list request that is cancelled with its connection is not logged as a failure", async () => {
  const { clock, refresher, ask, warned } = setUp();
  await refresher.onHandshake(listBy("s"), handshake({ tools: {} }), ask);
  for (const why of [new MetaMcpError("cancelled", "MetaMCP is stopping"), new Error("not today")]) {
    refresher.onListChanged(listBy("s"), "notifications/tools/list_changed", () => Promise.reject(why));
    await turn();
    clock.advance(100);
  }
  expect(warned).toEqual(["s: its tools could not be listed: not today"]);
});

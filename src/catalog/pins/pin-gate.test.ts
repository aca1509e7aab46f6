import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listBy, TEST_ORIGIN } from "../../../test/support/catalog.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { listKeyOf } from "../../kernel/list-key.ts";
import { type Log, silentLog } from "../../kernel/log.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { ToolCache } from "../cache.ts";
import { Catalog } from "../catalog.ts";
import type { Gate } from "../gate.ts";
import { createSearch } from "../search/search.ts";
import { PinGate } from "./pin-gate.ts";

const ABOUT = { era: "2025-11-25" } as const;
let home: string;
const open: { gate: PinGate; cache: ToolCache }[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "metamcp-pins-"));
});
afterEach(async () => {
  for (const { gate, cache } of open.splice(0)) {
    await gate.close();
    await cache.flush();
  }
  await rm(home, { recursive: true, force: true });
});

/** A catalog with a gate, without children. */
function gateway({ enforced = true, userReadsLog = true } = {}) {
  const lines: string[] = [];
  const at = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const log: Log = { debug: () => {}, info: at("info"), warn: at("warn"), error: at("error") };
  const clock = new ManualClock();
  const cache = new ToolCache({ home, log });
  const gate = new PinGate({
    home,
    log,
    clock,
    enforced,
    userReadsLog,
    keyFor: (...asker) => catalog.keyFor(...asker),
    snapshot: () => catalog.snapshot,
    lists: () => [],
    setBlocked: (...list) => catalog.setBlocked(...list),
  });
  const catalog: Catalog = new Catalog({ cache, search: createSearch(), clock, log, gate });
  open.push({ gate, cache });
  catalog.configure(new Map([["s", { identity: "id", permits: () => true }]]));
  const lists = async (tools: Record<string, string>): Promise<void> => {
    const written = Object.entries(tools).map(([name, description]) => ({
      name,
      description,
      inputSchema: { type: "object" },
    }));
    await catalog.refresh(listBy("s"), async () => toRaw({ tools: written }), ABOUT);
    await gate.settled();
  };
  const shown = (): string[] => catalog.snapshot.listings.get("s")?.tools.map(({ name }) => name) ?? [];
  return { catalog, gate, clock, lines, lists, shown };
}

const fileOf = async (): Promise<number> => (await stat(join(home, "pins", "s.json"))).ino;

test("an unchanged list is neither compared nor stored again", async () => {
  const { lists, gate, catalog } = gateway();
  await lists({ a: "1", b: "2" });
  const [file, { snapshot }] = [await fileOf(), catalog];
  await rm(join(home, "pins"), { recursive: true });
  await lists({ b: "2", a: "1" });
  await expect(fileOf()).rejects.toThrow();
  expect(catalog.snapshot).toBe(snapshot);
  expect(file).toBeGreaterThan(0);
  expect(gate.review("s").changes).toEqual([]);
});

test("a blocked tool is never in a snapshot", async () => {
  const { lists, shown, catalog } = gateway();
  await lists({ a: "1", b: "2" });
  const seen = new Set<string>();
  catalog.onChange(({ snapshot }) => void seen.add(snapshot.tool("s", "a")?.description ?? "none"));
  await lists({ a: "evil", b: "2" });
  expect(shown()).toEqual(["b"]);
  expect([...seen]).toEqual(["none"]);
  await lists({ a: "1", b: "2" });
  expect(shown()).toEqual(["a", "b"]);
});

test("of concurrent lists the last one stays, with its blocked tools", async () => {
  const { lists, shown, gate } = gateway();
  await lists({ a: "1" });
  await Promise.all([
    lists({ a: "2" }),
    lists({ a: "1", n: "new" }),
    lists({ a: "3" }),
    lists({ a: "1", m: "new" }),
  ]);
  expect(shown()).toEqual(["a"]);
  expect(gate.review("s").changes.map(({ tool }) => tool)).toEqual(["m"]);
});

test("a slow check delays later lists and never overwrites them", async () => {
  let finish = (): void => {};
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const gate: Gate = {
    enforced: true,
    judge: (_server, { items }) =>
      (items[0]?.name === "slow" ? slow : Promise.resolve()).then(() => new Set()),
    forget: () => {},
  };
  const cache = new ToolCache({ home, log: silentLog });
  const clock = new ManualClock();
  const catalog = new Catalog({ cache, search: createSearch(), clock, log: silentLog, gate });
  catalog.configure(new Map([["s", { identity: "id", permits: () => true }]]));
  const applied = ["slow", "quick"].map((name) =>
    catalog
      .refresh(listBy("s"), async () => toRaw({ tools: [{ name }] }), ABOUT)
      .then(() => catalog.isLive("s")),
  );
  await new Promise((resolve) => setImmediate(resolve));
  expect(catalog.isLive("s")).toBe(false);
  finish();
  expect(await Promise.all(applied)).toEqual([true, true]);
  expect(catalog.snapshot.tool("s", "quick")).toBeDefined();
  expect(catalog.snapshot.tool("s", "slow")).toBeUndefined();
  await cache.flush();
});

test("an approval by another process is noticed, and polling stops when everything is approved", async () => {
  const [one, other] = [gateway(), gateway()];
  await one.lists({ a: "1" });
  expect(one.clock.pending).toBe(0);
  await one.lists({ a: "2" });
  await other.lists({ a: "2" });
  expect(one.shown()).toEqual([]);
  await other.gate.approve("s", other.gate.review("s"));
  expect(other.shown()).toEqual(["a"]);
  one.clock.advance(500);
  await one.gate.settled();
  expect(one.shown()).toEqual(["a"]);
  expect(one.clock.pending).toBe(0);
});

test("two gateways that see a server or a change at the same time agree on the first list, and one of them warns", async () => {
  const [one, other] = [gateway(), gateway()];
  await Promise.all([one.lists({ a: "1" }), other.lists({ a: "2" })]);
  expect([...one.shown(), ...other.shown()]).toEqual(["a"]);
  const again = [gateway(), gateway()];
  await Promise.all(again.map(({ lists }) => lists({ a: "3" })));
  expect(again.flatMap(({ shown }) => shown())).toEqual([]);
  expect(again.flatMap(({ lines }) => lines.map((line) => line.split(" ")[0])).toSorted()).toEqual([
    "info",
    "warn",
  ]);
});

test("an approval is rejected if the tools changed after the review", async () => {
  const { lists, gate, shown } = gateway();
  await lists({ a: "1" });
  await lists({ a: "2" });
  const seen = gate.review("s");
  await lists({ a: "3" });
  await expect(gate.approve("s", seen)).rejects.toThrow(/changed in the meantime/);
  expect(shown()).toEqual([]);
  await gate.approve("s", gate.review("s"));
  expect(shown()).toEqual(["a"]);
});

test("a process without a log for the user logs no change, and other processes still warn", async () => {
  const first = gateway();
  await first.lists({ a: "1" });
  const command = gateway({ enforced: false, userReadsLog: false });
  await command.lists({ a: "2", n: "new" });
  expect(command.lines).toEqual([]);
  expect(command.gate.review("s").changes.map(({ tool }) => tool)).toEqual(["a", "n"]);
  await first.lists({ a: "2", n: "new" });
  expect(first.lines.map((line) => line.split(":")[0])).toEqual(["warn s", "warn s"]);
});

test("if pins cannot be written, changes are detected within the process, and one error is logged", async () => {
  await writeFile(join(home, "pins"), "in the way");
  const { lists, shown, lines } = gateway();
  await lists({ a: "1", b: "2" });
  expect(shown()).toEqual(["a", "b"]);
  await lists({ a: "evil", b: "2" });
  expect(shown()).toEqual(["b"]);
  expect(lines.filter((line) => line.startsWith("error"))).toHaveLength(1);
  expect(lines.join("\n")).toMatch(/cannot be recorded/);
});

test("a server with a new identity starts without approved tools", async () => {
  const { lists, shown, catalog, gate } = gateway();
  await lists({ a: "1" });
  await lists({ a: "2" });
  catalog.configure(new Map([["s", { identity: "other", permits: () => true }]]));
  expect(gate.review("s").changes).toEqual([]);
  await lists({ a: "2" });
  expect(shown()).toEqual(["a"]);
});

test("many changes give few log lines, and control codes in names are not logged", async () => {
  const many = (text: string) => Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`t${at}`, text]));
  const { lists, lines } = gateway();
  await lists({ "x\u001b[2J": "1", ...many("1") });
  await lists({ "x\u001b[2J": "2", ...many("2") });
  // The first list has one: a name with control codes is a hard sign.
  expect(lines).toHaveLength(12);
  expect(lines.join("")).not.toContain("\u001b");
  expect(lines.at(-1)).toMatch(/41 more/);
});

test("tools are compared per list key: a tool of only one key is no change, but an approved tool must be the same for all keys", async () => {
  const able = { capabilities: toRaw({ sampling: {} }) };
  const { catalog, gate, lists } = gateway();
  const offer = async (client: { capabilities: Raw }, tools: Record<string, string>): Promise<void> => {
    const written = Object.entries(tools).map(([name, description]) => ({ name, description }));
    const from = { server: "s", key: listKeyOf(client) };
    await catalog.refresh(from, async () => toRaw({ tools: written }), ABOUT);
    await gate.settled();
  };
  const shownTo = (client: { capabilities: Raw }): string[] | undefined =>
    catalog
      .view(client)
      .snapshot.listings.get("s")
      ?.tools.map(({ name }) => name);
  await lists({ a: "1" });
  await offer(able, { a: "1", samples: "1" });
  expect(shownTo(able)).toEqual(["a", "samples"]);
  expect(gate.review("s").changes).toEqual([]);

  // Later lists of that key are compared with the first one of that key.
  await offer(able, { a: "1", samples: "evil" });
  expect(shownTo(able)).toEqual(["a"]);
  expect(shownTo(TEST_ORIGIN)).toEqual(["a"]);
  expect(gate.review("s", TEST_ORIGIN).changes).toEqual([]);
  expect(gate.review("s", { ...TEST_ORIGIN, ...able }).changes).toMatchObject([
    { tool: "samples", kind: "changed" },
  ]);

  // A changed tool is blocked for a new key too.
  const asking = { capabilities: toRaw({ elicitation: {} }) };
  await offer(asking, { a: "evil", asks: "1" });
  expect(shownTo(asking)).toEqual(["asks"]);

  // One approval covers all keys.
  const seen = gate.review("s");
  expect(seen.changes.map(({ tool }) => tool).toSorted()).toEqual(["a", "samples"]);
  await gate.approve("s", seen);
  expect([shownTo(able), shownTo(asking), shownTo(TEST_ORIGIN)]).toEqual([
    ["a", "samples"],
    ["a", "asks"],
    ["a"],
  ]);

  const later = gateway();
  await later.catalog.loadCached();
  await later.gate.settled();
  expect(later.gate.review("s").changes).toEqual([]);
});

test("an approval without a list key applies to every key", async () => {
  const first = gateway();
  await first.lists({ a: "1" });
  const path = join(home, "pins", "s.json");
  const file = JSON.parse(await readFile(path, "utf8")) as { entries: { key?: string }[] };
  for (const entry of file.entries) delete entry.key;
  await writeFile(path, JSON.stringify(file));
  const { catalog, gate } = gateway();
  for (const capabilities of [toRaw({}), toRaw({ sampling: {} })]) {
    const tools = [{ name: "a", description: "evil" }];
    await catalog.refresh(
      { server: "s", key: listKeyOf({ capabilities }) },
      async () => toRaw({ tools }),
      ABOUT,
    );
    await gate.settled();
    expect(catalog.view({ capabilities }).snapshot.listings.get("s")?.tools).toEqual([]);
  }
});

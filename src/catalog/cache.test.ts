import { readdirSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { withLock } from "../home/lock.ts";
import { listKeyOf } from "../kernel/list-key.ts";
import { type Log, silentLog } from "../kernel/log.ts";
import { asRaw, EMPTY_OBJECT, type Raw, toRaw } from "../kernel/raw.ts";
import { type CachedList, ToolCache } from "./cache.ts";
import { readTool } from "./read-tool.ts";
import type { Tool } from "./tool.ts";

const raw = (text: string): Raw => asRaw(Buffer.from(text));
const tool = (written: Raw): Tool => readTool("s", written) as Tool;
const list = (...names: string[]): CachedList => ({
  tools: names.map((name) => tool(toRaw({ name }))),
  about: { era: "2025-11-25", instructions: "be kind" },
});
const namesOf = (found: CachedList | undefined): string[] | undefined => found?.tools.map(({ name }) => name);

const KEY = listKeyOf({ capabilities: EMPTY_OBJECT });
let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "metamcp-cache-"));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

const open = (log: Log = silentLog): ToolCache => new ToolCache({ home, log });
const fileOf = (server: string): string => join(home, "cache", server, "schema.json");

/** A list as clients that can do nothing special are offered it. */
const by = (identity: string, key = KEY) => ({ identity, key });

async function first(cache: ToolCache, server: string, identity: string): Promise<CachedList | undefined> {
  const [{ key, ...list } = { key: undefined, tools: undefined, about: {} }] = await cache.read(
    server,
    identity,
  );
  if (!list.tools) return undefined;
  // Files of earlier versions do not say which.
  expect([KEY, undefined]).toContain(key);
  return list;
}

async function store(server: string, identity: string, what: CachedList): Promise<void> {
  const cache = open();
  cache.write(server, by(identity), what);
  await cache.flush();
}

describe("what was written", () => {
  test("is read by the next run, with what the child said of itself", async () => {
    await store("s", "id", list("a", "b"));
    const found = await first(open(), "s", "id");
    expect(found).toMatchObject(list("a", "b"));
  });

  test("is byte by byte what the child wrote", async () => {
    const definition =
      '{"name":"a", "inputSchema":{"default":12345678901234567890,"t":"\\u00e9\\/é😀\\ud800"},"new":1E+2}';
    await store("s", "id", { tools: [tool(raw(definition))], about: {} });
    const found = await first(open(), "s", "id");
    expect(found?.tools[0]?.definition.toString()).toBe(definition);
    await store("s", "other", list("b"));
    expect((await first(open(), "s", "id"))?.tools[0]?.definition.toString()).toBe(definition);
  });

  test("is for its identity alone, and for the owner's eyes", async () => {
    await store("s", "one", list("a"));
    await store("s", "two", list("b"));
    const cache = open();
    expect(namesOf(await first(cache, "s", "one"))).toEqual(["a"]);
    expect(namesOf(await first(cache, "s", "two"))).toEqual(["b"]);
    expect(await first(cache, "s", "three")).toBeUndefined();
    expect(await first(cache, "t", "one")).toBeUndefined();
    expect((await stat(fileOf("s"))).mode & 0o077).toBe(0);
    expect((await stat(dirname(fileOf("s")))).mode & 0o077).toBe(0);
  });

  test("gives way to the newest eight", async () => {
    for (let at = 0; at < 9; at++) await store("s", `id${at}`, list(`t${at}`));
    const cache = open();
    expect(await first(cache, "s", "id0")).toBeUndefined();
    for (let at = 1; at < 9; at++) expect(namesOf(await first(cache, "s", `id${at}`))).toEqual([`t${at}`]);
  });

  test("is not written again if it says the same", async () => {
    await store("s", "id", list("a", "b"));
    const before = await stat(fileOf("s"));
    await store("s", "id", { ...list("a", "b"), tools: [...list("b", "a").tools] });
    expect(await stat(fileOf("s"))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    await store("s", "id", { ...list("a", "b"), about: { era: "2026-07-28" } });
    expect((await stat(fileOf("s"))).ino).not.toBe(before.ino);
    expect((await first(open(), "s", "id"))?.about).toEqual({ era: "2026-07-28" });
  });

  test("is there for this process before it is on disk, and nothing is on disk before the caller goes on", async () => {
    const cache = open();
    cache.write("s", by("id"), list("a"));
    cache.write("s", by("id"), list("b"));
    expect(readdirSync(home)).toEqual([]);
    expect(namesOf(await first(cache, "s", "id"))).toEqual(["b"]);
    await cache.flush();
    expect(namesOf(await first(open(), "s", "id"))).toEqual(["b"]);
  });

  test("survives any number of writers", async () => {
    const caches = [open(), open(), open()];
    for (let round = 0; round < 4; round++) {
      for (const [at, cache] of caches.entries()) cache.write("s", by(`id${at}`), list(`t${at}-${round}`));
      if (round % 2 === 0) await Promise.all(caches.map((cache) => cache.flush()));
    }
    await Promise.all(caches.map((cache) => cache.flush()));
    for (const at of caches.keys())
      expect(namesOf(await first(open(), "s", `id${at}`))).toEqual([`t${at}-3`]);
    expect(await readdir(dirname(fileOf("s")))).toEqual(["schema.json"]);
  });

  test("waits for whoever holds the file", async () => {
    await store("s", "one", list("a"));
    const cache = open();
    await withLock(fileOf("s"), async () => {
      cache.write("s", by("two"), list("b"));
      const theirs = await readFile(fileOf("s"), "utf8");
      await new Promise((resolve) => setImmediate(resolve));
      await writeFile(fileOf("s"), theirs.replace('"one"', '"three"'));
    });
    await cache.flush();
    expect(namesOf(await first(cache, "s", "two"))).toEqual(["b"]);
    expect(namesOf(await first(cache, "s", "three"))).toEqual(["a"]);
  });
});

describe("names", () => {
  const names = [
    "../x",
    "..",
    ".",
    "a/b",
    "a\\b",
    "CON",
    "con",
    "/etc/passwd",
    "x".repeat(5000),
    "käse 🧀",
    "",
    " ",
    "a\0b",
    "-rf",
    "a.",
  ];

  test("that are no file names stay inside the folder and apart", async () => {
    const cache = open();
    for (const name of names) cache.write(name, by("id"), { ...list("t"), about: { title: `of ${name}` } });
    await cache.flush();
    for (const name of names) expect((await first(open(), name, "id"))?.about.title).toBe(`of ${name}`);
    const files = await readdir(home, { recursive: true, withFileTypes: true });
    expect(await readdir(home)).toEqual(["cache"]);
    for (const file of files.filter((entry) => entry.isFile())) {
      expect(relative(join(home, "cache"), file.parentPath ?? file.path).split("/")).toHaveLength(1);
    }
  });
});

describe("files that are not ours", () => {
  const ENTRY = '{"identity":"id","about":{},"tools":[{"name":"a"}]}';
  const file = (entries: string): string => `{"format":"metamcp tools 1","entries":${entries}}`;

  test("the form these tests break is the right one", async () => {
    await put(file(`[${ENTRY}]`));
    expect(namesOf(await first(open(), "s", "id"))).toEqual(["a"]);
  });

  test.each([
    "",
    " ",
    "\0\0\0\0",
    "null",
    "7",
    "[]",
    "{}",
    "not json",
    file(`[${ENTRY}`),
    file(`[${ENTRY}]`).slice(0, -1),
    `${file(`[${ENTRY}]`)}x`,
    `\uFEFF${file(`[${ENTRY}]`)}`,
    file(`[${ENTRY}]`).replace("tools 1", "tools 2"),
    file(ENTRY),
    file("null"),
    file('[null,1,"x",[],{}]'),
    file('[{"identity":7,"tools":[]}]'),
    file('[{"identity":"id"}]'),
    file('[{"identity":"id","tools":{"name":"a"}}]'),
    `{"entries":[${ENTRY}]}`,
    "[".repeat(1000),
  ])("%j is ignored, and replaced by the next list", async (content) => {
    await put(content);
    expect(await first(open(), "s", "id")).toBeUndefined();
    await store("s", "id", list("b"));
    expect(namesOf(await first(open(), "s", "id"))).toEqual(["b"]);
  });

  test("bytes that are no text are ignored or harmless", async () => {
    await put(Buffer.from(file('[{"identity":"id","tools":[{"name":"\xff\xfe"}]}]'), "latin1"));
    const found = await first(open(), "s", "id");
    for (const { definition } of found?.tools ?? []) expect(definition.toString()).toContain("\uFFFD");
  });

  test("odd parts of a good entry are left out", async () => {
    await put(
      file(
        '[{"identity":"id","about":{"title":7,"era":"x","__proto__":{"version":"1"}},"tools":[null,{"name":"a"},{"name":"a","description":"2"},{}]}]',
      ),
    );
    const found = await first(open(), "s", "id");
    expect(found?.about).toEqual({ era: "x" });
    expect(found?.tools).toMatchObject([{ name: "a", description: "" }]);
    await put(file('[{"identity":"id","about":null,"tools":[]}]'));
    expect(await first(open(), "s", "id")).toEqual({ about: {}, tools: [] });
  });

  test("a folder in the place of the file is said once and harms nothing", async () => {
    await mkdir(join(fileOf("s"), "x"), { recursive: true });
    const { log, warnings } = listening();
    const cache = open(log);
    expect(await first(cache, "s", "id")).toBeUndefined();
    cache.write("s", by("id"), list("a"));
    await cache.flush();
    cache.write("s", by("id"), list("b"));
    await cache.flush();
    expect(warnings).toHaveLength(1);
  });

  async function put(content: string | Buffer): Promise<void> {
    await mkdir(dirname(fileOf("s")), { recursive: true });
    await writeFile(fileOf("s"), content);
  }
});

test("a home that is a file is said once and harms nothing", async () => {
  const { log, warnings } = listening();
  await writeFile(join(home, "cache"), "");
  const cache = open(log);
  expect(await first(cache, "s", "id")).toBeUndefined();
  cache.write("s", by("id"), list("a"));
  cache.write("t", by("id"), list("a"));
  await cache.flush();
  expect(warnings).toHaveLength(1);
});

// Root may write everywhere.
test.skipIf(process.getuid?.() === 0)("a home that may not be written is said once", async () => {
  const { log, warnings } = listening();
  await chmod(home, 0o500);
  const cache = open(log);
  cache.write("s", by("id"), list("a"));
  cache.write("t", by("id"), list("a"));
  await cache.flush();
  await chmod(home, 0o700);
  expect(warnings).toHaveLength(1);
});

function listening(): { log: Log; warnings: string[] } {
  const warnings: string[] = [];
  return { log: { ...silentLog, warn: (message) => warnings.push(message) }, warnings };
}

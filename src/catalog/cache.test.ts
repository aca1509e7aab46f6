import { readdirSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { withLock } from "../home/lock.ts";
import { listKeyOf } from "../kernel/list-key.ts";
import { type Log, silentLog } from "../kernel/log.ts";
import { asRaw, EMPTY_OBJECT, type Raw, toRaw } from "../kernel/raw.ts";
import { ToolCache } from "./cache.ts";
import type { CachedList } from "./cache-file.ts";
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

/** The owner of a list for clients without capabilities. */
const by = (identity: string, key = KEY) => ({ identity, key });

async function first(cache: ToolCache, server: string, identity: string): Promise<CachedList | undefined> {
  const [{ key, ...list } = { key: undefined, tools: undefined, about: {} }] = await cache.read(
    server,
    identity,
  );
  if (!list.tools) return undefined;
  // Entries may lack a key.
  expect([KEY, undefined]).toContain(key);
  return list;
}

async function store(server: string, identity: string, what: CachedList): Promise<void> {
  const cache = open();
  cache.write(server, by(identity), what);
  await cache.flush();
}

describe("a written list", () => {
  test("is read by the next process, with the child's self-description", async () => {
    await store("s", "id", list("a", "b"));
    const found = await first(open(), "s", "id");
    expect(found).toMatchObject(list("a", "b"));
  });

  test("keeps definitions byte by byte", async () => {
    const definition =
      '{"name":"a", "inputSchema":{"type":"object","default":12345678901234567890,"t":"\\u00e9\\/é😀\\ud800"},"new":1E+2}';
    await store("s", "id", { tools: [tool(raw(definition))], about: {} });
    const found = await first(open(), "s", "id");
    expect(found?.tools[0]?.definition.toString()).toBe(definition);
    await store("s", "other", list("b"));
    expect((await first(open(), "s", "id"))?.tools[0]?.definition.toString()).toBe(definition);
  });

  test("is returned only for its identity and readable only by the owner", async () => {
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

  test("is dropped when eight newer identities are written", async () => {
    for (let at = 0; at < 9; at++) await store("s", `id${at}`, list(`t${at}`));
    const cache = open();
    expect(await first(cache, "s", "id0")).toBeUndefined();
    for (let at = 1; at < 9; at++) expect(namesOf(await first(cache, "s", `id${at}`))).toEqual([`t${at}`]);
  });

  test("is not written again if its content is equal", async () => {
    await store("s", "id", list("a", "b"));
    const before = await stat(fileOf("s"));
    await store("s", "id", { ...list("a", "b"), tools: [...list("b", "a").tools] });
    expect(await stat(fileOf("s"))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    await store("s", "id", { ...list("a", "b"), about: { era: "2026-07-28" } });
    expect((await stat(fileOf("s"))).ino).not.toBe(before.ino);
    expect((await first(open(), "s", "id"))?.about).toEqual({ era: "2026-07-28" });
  });

  test("is readable in this process before it is on disk, and is written only after the caller continues", async () => {
    const cache = open();
    cache.write("s", by("id"), list("a"));
    cache.write("s", by("id"), list("b"));
    expect(readdirSync(home)).toEqual([]);
    expect(namesOf(await first(cache, "s", "id"))).toEqual(["b"]);
    await cache.flush();
    expect(namesOf(await first(open(), "s", "id"))).toEqual(["b"]);
  });

  test("survives concurrent writers", async () => {
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

  test("is written after another holder has released the lock", async () => {
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

describe("server names", () => {
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

  test("that are not valid file names get different folders inside the cache", async () => {
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

describe("invalid cache files", () => {
  const ENTRY = '{"identity":"id","about":{},"tools":[{"name":"a"}]}';
  const file = (entries: string): string => `{"format":"metamcp tools 1","entries":${entries}}`;

  test("the base of the following cases is valid", async () => {
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
  ])("the content %j is ignored and replaced by the next list", async (content) => {
    await put(content);
    expect(await first(open(), "s", "id")).toBeUndefined();
    await store("s", "id", list("b"));
    expect(namesOf(await first(open(), "s", "id"))).toEqual(["b"]);
  });

  test("invalid UTF-8 is ignored or replaced", async () => {
    await put(Buffer.from(file('[{"identity":"id","tools":[{"name":"\xff\xfe"}]}]'), "latin1"));
    const found = await first(open(), "s", "id");
    for (const { definition } of found?.tools ?? []) expect(definition.toString()).toContain("\uFFFD");
  });

  test("invalid parts of a valid entry are skipped", async () => {
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

  test("a folder in place of the file causes one warning and no error", async () => {
    await mkdir(join(fileOf("s"), "x"), { recursive: true });
    const { log, warnings } = recordingLog();
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

test("a file in place of the cache folder causes one warning and no error", async () => {
  const { log, warnings } = recordingLog();
  await writeFile(join(home, "cache"), "");
  const cache = open(log);
  expect(await first(cache, "s", "id")).toBeUndefined();
  cache.write("s", by("id"), list("a"));
  cache.write("t", by("id"), list("a"));
  await cache.flush();
  expect(warnings).toHaveLength(1);
});

// Root can write everywhere.
test.skipIf(process.getuid?.() === 0)("a home without write permission causes one warning", async () => {
  const { log, warnings } = recordingLog();
  await chmod(home, 0o500);
  const cache = open(log);
  cache.write("s", by("id"), list("a"));
  cache.write("t", by("id"), list("a"));
  await cache.flush();
  await chmod(home, 0o700);
  expect(warnings).toHaveLength(1);
});

function recordingLog(): { log: Log; warnings: string[] } {
  const warnings: string[] = [];
  return { log: { ...silentLog, warn: (message) => warnings.push(message) }, warnings };
}

import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { addServers, removeServers } from "./edit-servers.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "metamcp-servers-"));
  path = join(folder, ".mcp.json");
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const options = () => ({ home: join(folder, "home"), now: new Date(0) });
const add = (servers: Record<string, object>) =>
  addServers(path, new Map(Object.entries(servers)), options());
const remove = (...names: string[]) => removeServers(path, names, options());
const text = () => readFile(path, "utf8");

test("addServers adds new servers and does not change existing ones", async () => {
  await writeFile(
    path,
    '{\n  "mcpServers": {\n    "a": { "command": "a" }, // mine\n    "b": { "command": "b" }\n  }\n}\n',
  );
  const done = await add({ a: { command: "a" }, b: { command: "other" }, c: { command: "c" } });
  expect(done).toMatchObject({ added: ["c"], same: ["a"], other: ["b"] });
  expect(await text()).toMatch(
    /"a": \{ "command": "a" \}, \/\/ mine\n {4}"b": \{ "command": "b" \},\n {4}"c"/,
  );

  const before = await text();
  expect(await add({ c: { command: "c" } })).toEqual({ added: [], same: ["c"], other: [], copy: undefined });
  expect(await text()).toBe(before);
});

test("a server named like a member of Object.prototype can be added", async () => {
  await writeFile(path, '{"mcpServers": {}}');
  expect(await add({ constructor: { command: "x" } })).toMatchObject({ added: ["constructor"] });
});

test("removeServers removes all named servers or none", async () => {
  await add({ a: { command: "a" }, b: { command: "b" }, c: { command: "c" } });
  const before = await text();
  expect(await remove("a", "x")).toEqual({
    removed: [],
    absent: ["x"],
    known: ["a", "b", "c"],
    copy: undefined,
  });
  expect(await text()).toBe(before);

  expect(await remove("a", "c")).toMatchObject({ removed: ["a", "c"], absent: [], copy: expect.any(String) });
  expect(JSON.parse(await text())).toEqual({ mcpServers: { b: { command: "b" } } });
});

test("removeServers does not create a missing file", async () => {
  expect(await remove("a")).toMatchObject({ removed: [], absent: ["a"], known: [] });
  expect(existsSync(path)).toBe(false);
});

test("a file whose mcpServers is not an object is refused and not changed", async () => {
  await writeFile(path, '{"mcpServers": []}');
  await expect(add({ a: {} })).rejects.toThrow(ConfigError);
  await expect(remove("a")).rejects.toThrow(/mcpServers is a list/);
  expect(await text()).toBe('{"mcpServers": []}');
});

import { writeFileSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { type Edit, editJson } from "./edit.ts";
import { parseText } from "./parse.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "metamcp-edit-"));
  path = join(folder, ".mcp.json");
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const edit = (...edits: Edit[]) =>
  editJson(path, () => edits, { home: join(folder, "home"), now: new Date(0) });
const put = (name: string, value: unknown): Edit => ({ at: ["mcpServers", name], value });

const entry = { command: "b", args: ["x"] };

test.each([
  [
    "two spaces, a comment beside the last",
    '{\n  "mcpServers": {\n    "a": { "command": "a" } // mine\n  }\n}\n',
    '{\n  "mcpServers": {\n    "a": { "command": "a" }, // mine\n    "b": {\n      "command": "b",\n      "args": [\n        "x"\n      ]\n    }\n  }\n}\n',
  ],
  [
    "tabs, a trailing comma",
    '{\n\t"mcpServers": {\n\t\t"a": {}, /* mine */\n\t},\n}',
    '{\n\t"mcpServers": {\n\t\t"a": {}, /* mine */\n\t\t"b": {\n\t\t\t"command": "b",\n\t\t\t"args": [\n\t\t\t\t"x"\n\t\t\t]\n\t\t},\n\t},\n}',
  ],
  [
    "Windows lines, keys behind",
    '{\r\n  "mcpServers": {\r\n    "a": {}\r\n    // end\r\n  },\r\n  "x": 1\r\n}',
    '{\r\n  "mcpServers": {\r\n    "a": {},\r\n    "b": {\r\n      "command": "b",\r\n      "args": [\r\n        "x"\r\n      ]\r\n    }\r\n    // end\r\n  },\r\n  "x": 1\r\n}',
  ],
  ["one line", '{"mcpServers":{"a":{}}}', '{"mcpServers":{"a":{},"b":{"command":"b","args":["x"]}}}'],
  [
    "one line with room, a trailing comma",
    '{ "mcpServers": { "a": {}, } }\n',
    '{ "mcpServers": { "a": {}, "b": { "command": "b", "args": [ "x" ] }, } }\n',
  ],
])("what is there stays as it is written: %s", async (_what, before, after) => {
  await writeFile(path, before);
  await edit(put("b", entry));
  expect(await readFile(path, "utf8")).toBe(after);
});

test("one entry is replaced or removed, its neighbours and their comments stay", async () => {
  await writeFile(
    path,
    '{\n  "mcpServers": {\n    "a": {}, // one\n    "b": {}, // two\n    "c": {} // three\n  }\n}\n',
  );
  await edit(put("b", { command: "new" }));
  expect(await readFile(path, "utf8")).toMatch(
    /"a": \{\}, \/\/ one\n {4}"b": \{\s+"command": "new"\s+\}, \/\/ two\n {4}"c"/,
  );
  await edit(put("b", undefined));
  expect(await readFile(path, "utf8")).toMatch(/"a": \{\},? [\s\S]*"c": \{\} \/\/ three\n/);
  expect(await readFile(path, "utf8")).not.toContain('"b"');
});

test.each([
  ["the first", "a", '  // head\n    "b": 2, // two\n    "c": { "x": 3 } /* three */\n'],
  ["one between", "b", '    "a": 1, // one\n  // head\n    "c": { "x": 3 } /* three */\n'],
  ["the last", "c", '    "a": 1, // one\n  // head\n    "b": 2 // two\n'],
])("%s goes with its own lines, and nothing else is touched", async (_which, name, left) => {
  const all = '    "a": 1, // one\n  // head\n    "b": 2, // two\n    "c": { "x": 3 } /* three */\n';
  for (const [written, kept] of [
    [all, left],
    [all.replaceAll("\n", "\r\n"), left.replaceAll("\n", "\r\n")],
    [all.replace("} /*", "}, /*"), left.replace("} /*", "}, /*").replace("2 //", "2, //")],
  ]) {
    await writeFile(path, `{ "mcpServers": {\n${written}  } } // end`);
    await edit(put(name, undefined));
    expect(await readFile(path, "utf8")).toBe(`{ "mcpServers": {\n${kept}  } } // end`);
  }
});

test.each([
  ['{"mcpServers": {"a": 1, "b": 2}}', '{"mcpServers": {"a": 1}}'],
  ['{"mcpServers": {"b": 2, "a": 1}}', '{"mcpServers": { "a": 1}}'],
  ['{"mcpServers": {"b": 2 ,}}', '{"mcpServers": { }}'],
  ['{"mcpServers": {\n"a": 1\n, "b": 2\n}}', '{"mcpServers": {\n"a": 1\n\n}}'],
  ['{"mcpServers": {\n"b": 2 // x\n, "a": 1\n}}', '{"mcpServers": {\n "a": 1\n}}'],
  ['{"mcpServers": {\n"a": 1 /* x */,\n"b": 2\n}}', '{"mcpServers": {\n"a": 1 /* x */\n}}'],
  ['{"mcpServers": {\n"a": 1, // x\n"b": 2 }}', '{"mcpServers": {\n"a": 1 // x\n }}'],
  ['{"mcpServers": {\n"b": 2\n}}', '{"mcpServers": {\n}}'],
  ['{"mcpServers": {"b": 2\n}}', '{"mcpServers": {\n}}'],
])("without its second server %j is %j", async (text, left) => {
  await writeFile(path, text);
  await edit(put("b", undefined));
  expect(await readFile(path, "utf8")).toBe(left);
});

test("whatever the file looks like, what is put in is what is read out, and the rest is as before", {
  timeout: 120_000,
}, async () => {
  const spaces = fc.constantFrom("", " ", "\n", "\n  ", " // c\n", "/* c */");
  const member = fc.tuple(fc.constantFrom("a", "b", 'c"d', ""), fc.jsonValue());
  await fc.assert(
    fc.asyncProperty(
      spaces,
      fc.array(member, { maxLength: 3 }),
      fc.boolean(),
      async (gap, members, comma) => {
        const body = members.map(
          ([key, value]) => `${gap}${JSON.stringify(key)}:${gap}${JSON.stringify(value)}${gap}`,
        );
        await writeFile(
          path,
          `${gap}{"mcpServers":${gap}{${body.join(",")}${comma && body.length > 0 ? "," : ""}${gap}}}`,
        );
        const read = async (): Promise<object> => {
          const parsed = await parseText(await readFile(path, "utf8"));
          return "value" in parsed ? (parsed.value as { mcpServers: object }).mcpServers : {};
        };
        const before = await read();
        await edit(put("new", entry));
        expect(await read()).toEqual({ ...before, new: entry });
        // Of a key that is there twice only one goes.
        const once = new Set(members.map(([key]) => key)).size === members.length;
        const [some = "none"] = once ? Object.keys(before) : [];
        const { [some]: _, ...rest } = before as Record<string, unknown>;
        await edit(put(some, undefined));
        expect(await read()).toEqual({ ...rest, new: entry });
        await edit(put("new", undefined));
        expect(await read()).toEqual(rest);
      },
    ),
    { numRuns: 60 },
  );
});

test.each([
  [
    "an empty object",
    '{"a":[1,{"x":2}],"mcpServers":{}}',
    '{"a":[1,{"x":2}],"mcpServers":{"b":{"command":"b"}}}',
  ],
  ["nothing", '{"a": [1, {"x":2}]}', '{"a": [1, {"x":2}], "mcpServers": { "b": { "command": "b" } }}'],
  [
    "another value",
    '{"mcpServers":{"b":null},"a": [1,2]}',
    '{"mcpServers":{"b":{"command":"b"}},"a": [1,2]}',
  ],
])("a file on one line stays on it, with %s in the place", async (_what, before, after) => {
  await writeFile(path, before);
  await edit(put("b", { command: "b" }));
  expect(await readFile(path, "utf8")).toBe(after);
});

test("an empty object among lines is opened, and nothing else is laid out anew", async () => {
  await writeFile(path, '{\n    "x": {"a":1,\n"b":2}, "mcpServers": {},\n  "y": [1,2]\n}\n');
  await edit(put("b", { command: "b" }));
  expect(await readFile(path, "utf8")).toBe(
    '{\n    "x": {"a":1,\n"b":2}, "mcpServers": {\n    "b": {\n        "command": "b"\n    }\n},\n  "y": [1,2]\n}\n',
  );
});

test("a large file on one line takes no longer than it is large", async () => {
  const rest = Array.from({ length: 20_000 }, (_, at) => ({ name: `n${at}`, value: "v".repeat(40) }));
  const before = JSON.stringify({ rest, mcpServers: {} });
  await writeFile(path, before);
  await edit(put("b", entry));
  expect(await readFile(path, "utf8")).toBe(before.replace(/\{\}\}$/, `{"b":${JSON.stringify(entry)}}}`));
});

test.each([
  ["the servers", '{"mcpServers": {"a": 1}, "mcpServers": {"c": 2}}', put("b", entry)],
  ["a server", '{"mcpServers": {"a": 1, "a": 2}}', put("a", undefined)],
])("where %s are there twice, nothing is written that would not count", async (_what, text, change) => {
  await writeFile(path, text);
  await expect(edit(change)).rejects.toThrow(/the same key twice/);
  expect(await readFile(path, "utf8")).toBe(text);
});

test("a copy of the file before is kept, its mode stays, and no lock is left in the user's folder", async () => {
  await writeFile(path, '{"mcpServers": {}}');
  await chmod(path, 0o644);
  const { changed, copy } = await edit(put("a", { command: "x" }));

  expect(changed).toBe(true);
  expect(await readFile(copy ?? "", "utf8")).toBe('{"mcpServers": {}}');
  expect((await stat(path)).mode & 0o777).toBe(0o644);
  expect(await readdir(folder)).toEqual([".mcp.json", "home"]);
});

test("a file that is not there yet is made, for the owner alone", async () => {
  expect(await edit(put("a", { command: "x" }))).toEqual({ changed: true, copy: undefined });
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ mcpServers: { a: { command: "x" } } });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("a byte order mark does no harm", async () => {
  await writeFile(path, '\uFEFF{\n  "mcpServers": {\n    "a": {}\n  }\n}');
  await edit(put("b", 1));
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ mcpServers: { a: {}, b: 1 } });
});

test("nothing to change writes nothing", async () => {
  await writeFile(path, '{"mcpServers": {}}');
  expect(await edit()).toEqual({ changed: false, copy: undefined });
  expect(await edit(put("none", undefined))).toEqual({ changed: false, copy: undefined });
});

test.each(['{"mcpServers": {', "[]", "", "no"])("%j is refused and left alone", async (text) => {
  await writeFile(path, text);
  await expect(edit(put("a", {}))).rejects.toThrow(ConfigError);
  expect(await readFile(path, "utf8")).toBe(text);
});

test("edits at once all arrive", async () => {
  await Promise.all(Array.from({ length: 15 }, (_, index) => edit(put(`s${index}`, { command: "x" }))));
  const file = JSON.parse(await readFile(path, "utf8")) as { mcpServers: object };
  expect(Object.keys(file.mcpServers)).toHaveLength(15);
});

test("what an editor saves at the same moment is not undone", async () => {
  await writeFile(path, '{ "mcpServers": {} }');
  let saves = 0;
  await editJson(
    path,
    () => {
      if (++saves === 1) writeFileSync(path, '{ "mcpServers": { "a": {} }, "saved": true }');
      return [put("b", entry)];
    },
    { home: join(folder, "home"), now: new Date(0) },
  );
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ mcpServers: { a: {}, b: entry }, saved: true });
});

test("the plan sees what is there", async () => {
  await writeFile(path, '{"mcpServers": {"a": 1,}} // end');
  const plan = (file: object): readonly Edit[] => [{ at: ["seen"], value: file }];
  await editJson(path, plan, { home: join(folder, "home"), now: new Date(0) });
  expect(await readFile(path, "utf8")).toMatch(/"seen": \{\s+"mcpServers": \{\s+"a": 1/);
});

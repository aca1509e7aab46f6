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
    "two spaces and a comment after the last key",
    '{\n  "mcpServers": {\n    "a": { "command": "a" } // mine\n  }\n}\n',
    '{\n  "mcpServers": {\n    "a": { "command": "a" }, // mine\n    "b": {\n      "command": "b",\n      "args": [\n        "x"\n      ]\n    }\n  }\n}\n',
  ],
  [
    "tabs and a trailing comma",
    '{\n\t"mcpServers": {\n\t\t"a": {}, /* mine */\n\t},\n}',
    '{\n\t"mcpServers": {\n\t\t"a": {}, /* mine */\n\t\t"b": {\n\t\t\t"command": "b",\n\t\t\t"args": [\n\t\t\t\t"x"\n\t\t\t]\n\t\t},\n\t},\n}',
  ],
  [
    "Windows line ends and keys after it",
    '{\r\n  "mcpServers": {\r\n    "a": {}\r\n    // end\r\n  },\r\n  "x": 1\r\n}',
    '{\r\n  "mcpServers": {\r\n    "a": {},\r\n    "b": {\r\n      "command": "b",\r\n      "args": [\r\n        "x"\r\n      ]\r\n    }\r\n    // end\r\n  },\r\n  "x": 1\r\n}',
  ],
  ["one line", '{"mcpServers":{"a":{}}}', '{"mcpServers":{"a":{},"b":{"command":"b","args":["x"]}}}'],
  [
    "one line with spaces and a trailing comma",
    '{ "mcpServers": { "a": {}, } }\n',
    '{ "mcpServers": { "a": {}, "b": { "command": "b", "args": [ "x" ] }, } }\n',
  ],
])("adding a key keeps the formatting of the file: %s", async (_what, before, after) => {
  await writeFile(path, before);
  await edit(put("b", entry));
  expect(await readFile(path, "utf8")).toBe(after);
});

test("replacing and removing an entry keeps its neighbours and their comments", async () => {
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
  ["the first key", "a", '  // head\n    "b": 2, // two\n    "c": { "x": 3 } /* three */\n'],
  ["a key in the middle", "b", '    "a": 1, // one\n  // head\n    "c": { "x": 3 } /* three */\n'],
  ["the last key", "c", '    "a": 1, // one\n  // head\n    "b": 2 // two\n'],
])("removing %s removes only its own lines", async (_which, name, left) => {
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
])("removing server b from %j gives %j", async (text, left) => {
  await writeFile(path, text);
  await edit(put("b", undefined));
  expect(await readFile(path, "utf8")).toBe(left);
});

test("adding and removing a key in any file gives the expected content and keeps the rest", {
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
        // Of a duplicate key only one is removed.
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
  ["no key", '{"a": [1, {"x":2}]}', '{"a": [1, {"x":2}], "mcpServers": { "b": { "command": "b" } }}'],
  [
    "another value",
    '{"mcpServers":{"b":null},"a": [1,2]}',
    '{"mcpServers":{"b":{"command":"b"}},"a": [1,2]}',
  ],
])("a file on one line stays on one line if the edited place has %s", async (_what, before, after) => {
  await writeFile(path, before);
  await edit(put("b", { command: "b" }));
  expect(await readFile(path, "utf8")).toBe(after);
});

test("a key in an empty object of a file with several lines gets its own lines, and the rest is not reformatted", async () => {
  await writeFile(path, '{\n    "x": {"a":1,\n"b":2}, "mcpServers": {},\n  "y": [1,2]\n}\n');
  await edit(put("b", { command: "b" }));
  expect(await readFile(path, "utf8")).toBe(
    '{\n    "x": {"a":1,\n"b":2}, "mcpServers": {\n    "b": {\n        "command": "b"\n    }\n},\n  "y": [1,2]\n}\n',
  );
});

test("a large file on one line is edited in linear time", async () => {
  const rest = Array.from({ length: 20_000 }, (_, at) => ({ name: `n${at}`, value: "v".repeat(40) }));
  const before = JSON.stringify({ rest, mcpServers: {} });
  await writeFile(path, before);
  await edit(put("b", entry));
  expect(await readFile(path, "utf8")).toBe(before.replace(/\{\}\}$/, `{"b":${JSON.stringify(entry)}}}`));
});

test.each([
  ["the servers", '{"mcpServers": {"a": 1}, "mcpServers": {"c": 2}}', put("b", entry)],
  ["a server", '{"mcpServers": {"a": 1, "a": 2}}', put("a", undefined)],
])("a file with duplicate keys for %s is refused and not changed", async (_what, text, change) => {
  await writeFile(path, text);
  await expect(edit(change)).rejects.toThrow(/the same key twice/);
  expect(await readFile(path, "utf8")).toBe(text);
});

test("an edit makes a backup, keeps the mode of the file, and leaves no lock in the user's folder", async () => {
  await writeFile(path, '{"mcpServers": {}}');
  await chmod(path, 0o644);
  const { changed, copy } = await edit(put("a", { command: "x" }));

  expect(changed).toBe(true);
  expect(await readFile(copy ?? "", "utf8")).toBe('{"mcpServers": {}}');
  expect((await stat(path)).mode & 0o777).toBe(0o644);
  expect(await readdir(folder)).toEqual([".mcp.json", "home"]);
});

test("a missing file is created with mode 0600", async () => {
  expect(await edit(put("a", { command: "x" }))).toEqual({ changed: true, copy: undefined });
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ mcpServers: { a: { command: "x" } } });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("a file with a byte order mark can be edited", async () => {
  await writeFile(path, '\uFEFF{\n  "mcpServers": {\n    "a": {}\n  }\n}');
  await edit(put("b", 1));
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ mcpServers: { a: {}, b: 1 } });
});

test("an edit without changes writes nothing", async () => {
  await writeFile(path, '{"mcpServers": {}}');
  expect(await edit()).toEqual({ changed: false, copy: undefined });
  expect(await edit(put("none", undefined))).toEqual({ changed: false, copy: undefined });
});

test.each(['{"mcpServers": {', "[]", "", "no"])("the file %j is refused and not changed", async (text) => {
  await writeFile(path, text);
  await expect(edit(put("a", {}))).rejects.toThrow(ConfigError);
  expect(await readFile(path, "utf8")).toBe(text);
});

test("concurrent edits are all written", async () => {
  await Promise.all(Array.from({ length: 15 }, (_, index) => edit(put(`s${index}`, { command: "x" }))));
  const file = JSON.parse(await readFile(path, "utf8")) as { mcpServers: object };
  expect(Object.keys(file.mcpServers)).toHaveLength(15);
});

test("a change that an editor saves at the same moment is kept", async () => {
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

test("the plan gets the current content", async () => {
  await writeFile(path, '{"mcpServers": {"a": 1,}} // end');
  const plan = (file: object): readonly Edit[] => [{ at: ["seen"], value: file }];
  await editJson(path, plan, { home: join(folder, "home"), now: new Date(0) });
  expect(await readFile(path, "utf8")).toMatch(/"seen": \{\s+"mcpServers": \{\s+"a": 1/);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { ConfigError } from "../config/config-error.ts";
import { formatOf } from "./format-of.ts";

const format = await formatOf("config.toml");
const AT = ["mcp_servers", "metamcp"];
const ENTRY = { command: "/opt/node", args: ['C:\\x "y"', "--config"], env: { A: "b" } };
const put = async (text: string, entry: object = ENTRY): Promise<string> =>
  await format.put({ path: "config.toml", text }, AT, entry as never);
const drop = async (text: string): Promise<string> => await format.drop({ path: "config.toml", text }, AT);

test("put appends the table and keeps the text before it", async () => {
  const text = 'model = "x" # mine\n\n[mcp_servers.a]\ncommand = "a"';
  expect(await put(text)).toBe(
    `${text}\n\n[mcp_servers.metamcp]\ncommand = "/opt/node"\nargs = ["C:\\\\x \\"y\\"", "--config"]\nenv = { A = "b" }\n`,
  );
});

test("put replaces an existing table and its subtables in place, and drop removes them", async () => {
  const text =
    '[mcp_servers.metamcp]\ncommand = "old"\n\n[mcp_servers.metamcp.env]\nX = "1"\n\n# next\n[mcp_servers.b]\ncommand = "b"\n';
  expect(await put(text, { command: "new" })).toBe(
    '[mcp_servers.metamcp]\ncommand = "new"\n\n# next\n[mcp_servers.b]\ncommand = "b"\n',
  );
  expect(await drop(text)).toBe('\n\n# next\n[mcp_servers.b]\ncommand = "b"\n');
});

test.each([
  ["an inline table", 'mcp_servers = { a = { command = "a" } }\n'],
  ["dotted keys", 'mcp_servers.metamcp.command = "old"\n'],
  [
    "a header inside a string",
    'x = """\n[mcp_servers.metamcp]\n"""\n[mcp_servers]\nmetamcp = { command = "old" }\n',
  ],
])("a file with %s is refused", async (_what, text) => {
  await expect(put(text)).rejects.toThrow(ConfigError);
});

test("a syntax error is reported with line and column", async () => {
  await expect(format.parse({ path: "/c.toml", text: "a = 1\nb = \n" })).rejects.toThrow(
    /^\/c\.toml:2:\d+: /,
  );
});

test("adding and removing our table keeps the content of any file", async () => {
  const word = fc.stringMatching(/^[a-z]{1,6}$/);
  const value = fc.oneof(
    fc.string().map((text) => JSON.stringify(text).replaceAll("\u007F", "")),
    fc.integer().map(String),
    fc.constantFrom(
      "true",
      "1979-05-27T07:32:00Z",
      "[1, 2] # c",
      "'it''s'".slice(0, 4),
      '"""\n[mcp_servers.x]\n"""',
    ),
  );
  const table = fc.tuple(word, fc.array(value, { maxLength: 3 }));
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(table, { maxLength: 4, selector: ([name]) => name }),
      fc.boolean(),
      fc.constantFrom("", "\n", "\n\n", "\n# end"),
      async (tables, crlf, end) => {
        const lines = tables.flatMap(([name, values]) => [
          `[mcp_servers.${name}] # theirs`,
          ...values.map((written, index) => `k${index} = ${written}`),
        ]);
        const text = (lines.join("\n") + end).replaceAll("\n", crlf ? "\r\n" : "\n");
        const before = await format.parse({ path: "x.toml", text });
        const connected = await put(text);
        expect(connected.startsWith(text)).toBe(true);
        const renewed = await put(connected, { command: "other" });
        const gone = await drop(renewed);
        expect(gone.startsWith(text)).toBe(true);
        const after = await format.parse({ path: "x.toml", text: gone });
        expect(after).toEqual(tables.length > 0 ? before : {});
      },
    ),
    { numRuns: 100 },
  );
});

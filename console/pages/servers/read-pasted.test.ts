import { expect, test } from "vitest";
import { guessName, readPasted } from "./read-pasted.ts";

const GITHUB = { command: "npx", args: ["-y", "@modelcontextprotocol/server-github"] };
const found = (entries: object) => ({ entries });

test.each([
  ["reads a complete config", JSON.stringify({ mcpServers: { github: GITHUB } })],
  ["reads a config of VS Code", JSON.stringify({ inputs: [], servers: { github: GITHUB } })],
  [
    "reads servers among other settings",
    JSON.stringify({ mcp: { servers: { github: GITHUB } }, theme: "dark" }),
  ],
  ["reads the list of servers alone", JSON.stringify({ github: GITHUB })],
  ["reads a list without its braces", `"github": ${JSON.stringify(GITHUB)},`],
  ["reads one entry", JSON.stringify(GITHUB)],
  ["reads one entry with a name", JSON.stringify({ name: "github", ...GITHUB })],
  ["reads a command", "npx -y @modelcontextprotocol/server-github"],
  [
    "reads an add command of another client",
    "claude mcp add github -s user -- npx -y @modelcontextprotocol/server-github",
  ],
  [
    "reads a config with comments and trailing commas",
    `{ // mine
      "mcpServers": { "github": { "command": "npx", /* quietly */ "args": ["-y", "@modelcontextprotocol/server-github",], }, },
    }`,
  ],
])("%s", (_, text) => expect(readPasted(text)).toEqual(found({ github: GITHUB })));

test("readPasted keeps slashes and commas inside strings", () => {
  const entry = { url: "https://a.example.org//x,]" };
  expect(readPasted(JSON.stringify({ mcpServers: { a: entry } }))).toEqual(found({ a: entry }));
});

test("readPasted reads an address", () => {
  const url = "https://mcp.linear.app/mcp";
  expect(readPasted(url)).toEqual(found({ linear: { url } }));
});

test("readPasted reads variables and quotes of a command line", () => {
  expect(readPasted(`TOKEN='a b' node "my server.mjs" --flag=x\\ y`)).toEqual(
    found({ "my-server": { command: "node", args: ["my server.mjs", "--flag=x y"], env: { TOKEN: "a b" } } }),
  );
});

test("readPasted reports invalid JSON, and text without servers", () => {
  expect(readPasted("  \n")).toBeUndefined();
  expect(readPasted('{"mcpServers": {')).toMatchObject({ problem: "json" });
  expect(readPasted('{"mcpServers": {"a": {"disabled": true}}}')).toEqual({ problem: "none" });
  expect(readPasted("[1, 2]")).toEqual({ problem: "none" });
  expect(readPasted("<b>hello</b>")).toEqual({ problem: "none" });
});

test("readPasted names the line that is not JSON, also after comments", () => {
  const text = '\n{ // mine, of\n  "mcpServers": {\n    "a": { "command": "x" "args": [] }\n  }\n}';
  expect(readPasted(text)).toMatchObject({ problem: "json", line: 4, reason: expect.stringMatching(/./) });
});

test.each([
  [{ command: "uvx", args: ["mcp-server-git", "--repository", "."] }, "git"],
  [{ command: "npx", args: ["-y", "@playwright/mcp@latest"] }, "playwright"],
  [{ command: "mcp" }, "mcp"],
  [{ command: "docker", args: ["run", "-i", "mcp/sqlite"] }, "sqlite"],
  [{ command: "/usr/bin/my-server" }, "my"],
  [{ url: "https://api.githubcopilot.com/mcp/" }, "githubcopilot"],
  [{ url: "nonsense" }, "server"],
])("guessName(%o) returns %s", (entry, name) => expect(guessName(entry)).toBe(name));

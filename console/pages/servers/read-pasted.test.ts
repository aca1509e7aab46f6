import { expect, test } from "vitest";
import { guessName, readPasted } from "./read-pasted.ts";

const GITHUB = { command: "npx", args: ["-y", "@modelcontextprotocol/server-github"] };
const found = (entries: object) => ({ entries });

test.each([
  ["a whole config", JSON.stringify({ mcpServers: { github: GITHUB } })],
  ["as VS Code has it", JSON.stringify({ inputs: [], servers: { github: GITHUB } })],
  ["among settings", JSON.stringify({ mcp: { servers: { github: GITHUB } }, theme: "dark" })],
  ["the list alone", JSON.stringify({ github: GITHUB })],
  ["without its braces", `"github": ${JSON.stringify(GITHUB)},`],
  ["one entry", JSON.stringify(GITHUB)],
  ["one entry that says its name", JSON.stringify({ name: "github", ...GITHUB })],
  ["a command", "npx -y @modelcontextprotocol/server-github"],
  [
    "a command of another client",
    "claude mcp add github -s user -- npx -y @modelcontextprotocol/server-github",
  ],
  [
    "with comments and commas too many",
    `{ // mine
      "mcpServers": { "github": { "command": "npx", /* quietly */ "args": ["-y", "@modelcontextprotocol/server-github",], }, },
    }`,
  ],
])("%s", (_, text) => expect(readPasted(text)).toEqual(found({ github: GITHUB })));

test("slashes and commas in texts are no comments", () => {
  const entry = { url: "https://a.example.org//x,]" };
  expect(readPasted(JSON.stringify({ mcpServers: { a: entry } }))).toEqual(found({ a: entry }));
});

test("an address", () => {
  const url = "https://mcp.linear.app/mcp";
  expect(readPasted(url)).toEqual(found({ linear: { url } }));
});

test("variables and quotes of a command line", () => {
  expect(readPasted(`TOKEN='a b' node "my server.mjs" --flag=x\\ y`)).toEqual(
    found({ "my-server": { command: "node", args: ["my server.mjs", "--flag=x y"], env: { TOKEN: "a b" } } }),
  );
});

test("what is no server is said to be none", () => {
  expect(readPasted("  \n")).toBeUndefined();
  expect(readPasted('{"mcpServers": {')).toEqual({ problem: "json" });
  expect(readPasted('{"mcpServers": {"a": {"disabled": true}}}')).toEqual({ problem: "none" });
  expect(readPasted("[1, 2]")).toEqual({ problem: "none" });
  expect(readPasted("<b>hello</b>")).toEqual({ problem: "none" });
});

test.each([
  [{ command: "uvx", args: ["mcp-server-git", "--repository", "."] }, "git"],
  [{ command: "npx", args: ["-y", "@playwright/mcp@latest"] }, "playwright"],
  [{ command: "mcp" }, "mcp"],
  [{ command: "docker", args: ["run", "-i", "mcp/sqlite"] }, "sqlite"],
  [{ command: "/usr/bin/my-server" }, "my"],
  [{ url: "https://api.githubcopilot.com/mcp/" }, "githubcopilot"],
  [{ url: "nonsense" }, "server"],
])("%o is called %s", (entry, name) => expect(guessName(entry)).toBe(name));

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables are part of the form
import { expect, test } from "vitest";
import type { ClientProgram, WrittenServer } from "./client.ts";
import type { GatheredServer } from "./gather.ts";
import { merge } from "./merge.ts";
import { isMetaMcp, startCommand } from "./metamcp-entry.ts";
import { CLIENTS } from "./table.ts";
import { translate } from "./translate.ts";

const [client] = CLIENTS;
if (!client) throw new Error("no clients");
const found = (name: string, entry: GatheredServer["entry"]): GatheredServer => ({
  client,
  file: "/f",
  name,
  entry,
  notes: [],
});

test.each([
  [{}, "it has neither a command nor a url"],
  [{ type: "ws", url: "wss://x" }, "its type is not supported"],
  [{ settings: {} }, "it comes with an extension of that client"],
  ["npx x", "it is a string, not an object"],
])("the entry %j cannot be translated", (entry, reason) => {
  expect(translate({ name: "x", entry })).toEqual({ reason });
});

test("variables of other clients are translated, and those without an equivalent get a note", () => {
  const entry = {
    command: "${workspaceFolder}/run",
    args: ["${userHome}/x", "${env:A}", "${input:api key}"],
    envFile: ".env",
    env: { N: 5, B: true },
  };
  expect(translate({ name: "x", entry })).toEqual({
    entry: {
      command: "${workspaceFolder}/run",
      args: ["${HOME}/x", "${A}", "${API_KEY}"],
      env: { N: "5", B: "true" },
    },
    notes: [
      expect.stringContaining("${workspaceFolder}"),
      expect.stringContaining("set API_KEY"),
      expect.stringContaining("envFile"),
    ],
    unread: [expect.stringContaining("envFile")],
  });
});

test("merge adds equal servers once and gives a different server with the same name another name", () => {
  const a = { command: "npx", args: ["a"] };
  const b = { command: "npx", args: ["b"] };
  const c = { command: "npx", args: ["c"] };
  const { taken, same } = merge([found("x", a), found("x", a), found("x", b), found("x", c), found("y", b)], {
    x: { command: "other" },
    z: { command: "npx", args: ["c"], timeoutMs: 5 },
  });
  expect(taken.map(({ as }) => as)).toEqual(["x-claude-desktop", "x-claude-desktop-2"]);
  expect(same.map(({ as }) => as)).toEqual(["x-claude-desktop", "z", "x-claude-desktop-2"]);
});

test("servers with different tool rules are different servers, unless our config is the stricter one", () => {
  const run = { command: "npx", args: ["gl"] };
  const few = { ...run, tools: { allow: ["list"] } };
  const most = { ...run, tools: { deny: ["delete"] } };
  const all = merge(
    [found("gl", { ...run, disabled: true }), found("gl", run), found("gl", few), found("gl", most)],
    {},
  );
  expect(all.taken.map(({ as, entry }) => [as, entry["tools"], entry["disabled"]])).toEqual([
    ["gl", undefined, undefined],
    ["gl-claude-desktop", { allow: ["list"] }, undefined],
    ["gl-claude-desktop-2", { deny: ["delete"] }, undefined],
  ]);
  expect(all.taken[1]?.notes).toEqual([expect.stringContaining('differ from those of "gl"')]);
  const again = merge([found("gl", run), found("gl", few)], { mine: { ...run, tools: { deny: ["x"] } } });
  expect(again.same).toMatchObject([{ as: "mine", otherRules: true }]);
  expect(again.taken).toMatchObject([{ as: "gl" }]);
});

test("settings of the whole file that turn servers or tools off come along", () => {
  const client = (id: string) => CLIENTS.find((one) => one.id === id) as ClientProgram;
  const mcpServers = { a: { command: "a" }, b: { command: "b" } };
  const gemini = client("gemini").servers({ mcpServers, mcp: { excluded: ["a"] } });
  expect(gemini.map(({ entry }) => entry)).toEqual([{ command: "a", disabled: true }, { command: "b" }]);
  expect(client("gemini").servers({ mcpServers, mcp: { allowed: ["a"] } })[1]?.entry).toMatchObject({
    disabled: true,
  });
  const opencode = {
    mcp: { a: { type: "local", command: ["a"] } },
    tools: { a_delete: false, "b_*": false },
  };
  const [only] = client("opencode").servers(opencode);
  expect(translate(only as WrittenServer)).toMatchObject({ entry: { tools: { deny: ["delete"] } } });
});

test.each([
  [{ sandboxEnabled: true }, "sandboxEnabled"],
  [{ tools: { delete: { approval_mode: "prompt" } } }, "single tools"],
  [{ headersHelper: "x" }, "headersHelper"],
  [{ env: { KEY: "{file:~/key}" } }, "from a file"],
  [{ autoApprove: ["x"], description: "y", tools: ["*"] }, undefined],
])("what is not read in %j is named", (more, named) => {
  const result = translate({ name: "x", entry: { command: "x", ...more } });
  expect("unread" in result && result.unread).toEqual(
    named === undefined ? [] : [expect.stringContaining(named)],
  );
});

test.each([
  [{ command: "metamcp" }, true],
  [{ command: "npx", args: ["-y", "metamcp@1.2.3", "--config", "x"] }, true],
  [{ command: ["/usr/bin/node", "/opt/metamcp/dist/metamcp.js"] }, true],
  [{ command: { path: "metamcp", args: [] } }, true],
  [{ command: "C:\\node.exe", args: ["C:\\x\\metamcp\\dist\\metamcp.js"] }, true],
  [{ command: "npx", args: ["server-filesystem", "/code/metamcp"] }, false],
  [{ url: "https://x.example/metamcp" }, false],
])("isMetaMcp(%j) is %s", (entry, expected) => {
  expect(isMetaMcp(entry)).toBe(expected);
});

test("MetaMCP in a runner's cache is started through npx, otherwise by its path", () => {
  const at = { node: "/usr/bin/node", version: "1.2.3", config: "/c.json", home: undefined };
  const fetched = startCommand({
    ...at,
    script: "/home/a/.npm/_npx/abc/node_modules/metamcp/dist/metamcp.js",
  });
  expect(fetched).toEqual({ command: "npx", args: ["-y", "metamcp@1.2.3", "--config", "/c.json"], env: {} });
  const installed = startCommand({
    ...at,
    script: "/usr/lib/node_modules/metamcp/dist/metamcp.js",
    home: "/h",
  });
  expect(installed).toEqual({
    command: "/usr/bin/node",
    args: ["/usr/lib/node_modules/metamcp/dist/metamcp.js", "--config", "/c.json"],
    env: { METAMCP_HOME: "/h" },
  });
  expect(isMetaMcp(fetched) && isMetaMcp(installed)).toBe(true);
});

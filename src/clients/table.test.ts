import { expect, test } from "vitest";
import type { ClientProgram } from "./client.ts";
import { CLIENTS } from "./table.ts";

const client = (id: string): ClientProgram => {
  const found = CLIENTS.find((one) => one.id === id);
  if (!found) throw new Error(id);
  return found;
};

const LINUX = { platform: "linux", home: "/home/a", env: {} } as const;
const MAC = { platform: "darwin", home: "/Users/a", env: {} } as const;
const WINDOWS = {
  platform: "win32",
  home: "C:\\Users\\a",
  env: { APPDATA: "C:\\Users\\a\\AppData\\Roaming" },
} as const;
const APP = "/Users/a/Library/Application Support";
const ROAMING = "C:\\Users\\a\\AppData\\Roaming";
const CLINE = "User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";

/** The file to edit if none exists yet. */
const PATHS: Readonly<Record<string, readonly [linux: string[], mac: string[], windows: string[]]>> = {
  "claude-desktop": [
    ["/home/a/.config/Claude/claude_desktop_config.json"],
    [`${APP}/Claude/claude_desktop_config.json`],
    [`${ROAMING}\\Claude\\claude_desktop_config.json`],
  ],
  "claude-code": [["/home/a/.claude.json"], ["/Users/a/.claude.json"], ["C:\\Users\\a\\.claude.json"]],
  cursor: [["/home/a/.cursor/mcp.json"], ["/Users/a/.cursor/mcp.json"], ["C:\\Users\\a\\.cursor\\mcp.json"]],
  vscode: [
    ["/home/a/.config/Code/User/mcp.json", "/home/a/.config/Code - Insiders/User/mcp.json"],
    [`${APP}/Code/User/mcp.json`, `${APP}/Code - Insiders/User/mcp.json`],
    [`${ROAMING}\\Code\\User\\mcp.json`, `${ROAMING}\\Code - Insiders\\User\\mcp.json`],
  ],
  windsurf: [
    ["/home/a/.codeium/windsurf/mcp_config.json"],
    ["/Users/a/.codeium/windsurf/mcp_config.json"],
    ["C:\\Users\\a\\.codeium\\windsurf\\mcp_config.json"],
  ],
  zed: [
    ["/home/a/.config/zed/settings.json"],
    ["/Users/a/.config/zed/settings.json"],
    [`${ROAMING}\\Zed\\settings.json`],
  ],
  codex: [
    ["/home/a/.codex/config.toml"],
    ["/Users/a/.codex/config.toml"],
    ["C:\\Users\\a\\.codex\\config.toml"],
  ],
  gemini: [
    ["/home/a/.gemini/settings.json"],
    ["/Users/a/.gemini/settings.json"],
    ["C:\\Users\\a\\.gemini\\settings.json"],
  ],
  opencode: [
    ["/home/a/.config/opencode/opencode.json"],
    ["/Users/a/.config/opencode/opencode.json"],
    ["C:\\Users\\a\\.config\\opencode\\opencode.json"],
  ],
  continue: [
    ["/home/a/.continue/mcpServers/metamcp.json"],
    ["/Users/a/.continue/mcpServers/metamcp.json"],
    ["C:\\Users\\a\\.continue\\mcpServers\\metamcp.json"],
  ],
  cline: [
    ["/home/a/.cline/data/settings/cline_mcp_settings.json", `/home/a/.config/Code/${CLINE}`],
    ["/Users/a/.cline/data/settings/cline_mcp_settings.json", `${APP}/Code/${CLINE}`],
    [
      "C:\\Users\\a\\.cline\\data\\settings\\cline_mcp_settings.json",
      `${ROAMING}\\Code\\${CLINE.replaceAll("/", "\\")}`,
    ],
  ],
  copilot: [
    ["/home/a/.copilot/mcp-config.json"],
    ["/Users/a/.copilot/mcp-config.json"],
    ["C:\\Users\\a\\.copilot\\mcp-config.json"],
  ],
};

test("the table of paths in this test contains every client", () => {
  expect(CLIENTS.map(({ id }) => id).toSorted()).toEqual(Object.keys(PATHS).toSorted());
});

test.each(Object.keys(PATHS))("the file of %s has the right path on each operating system", (id) => {
  const last = (machine: Parameters<ClientProgram["places"]>[0]) =>
    client(id)
      .places(machine)
      .map(({ files }) => files.at(-1));
  expect([LINUX, MAC, WINDOWS].map(last)).toEqual(PATHS[id]);
});

test.each([
  ["claude-code", { CLAUDE_CONFIG_DIR: "/x" }, "/x/.claude.json"],
  ["codex", { CODEX_HOME: "/x" }, "/x/config.toml"],
  ["gemini", { GEMINI_CLI_HOME: "/x" }, "/x/.gemini/settings.json"],
  ["copilot", { COPILOT_HOME: "/x" }, "/x/mcp-config.json"],
  ["continue", { CONTINUE_GLOBAL_DIR: "/x" }, "/x/mcpServers/metamcp.json"],
  ["cline", { CLINE_DIR: "/x" }, "/x/data/settings/cline_mcp_settings.json"],
  ["cline", { CLINE_DATA_DIR: "/x" }, "/x/settings/cline_mcp_settings.json"],
  ["cline", { CLINE_MCP_SETTINGS_PATH: "/x.json" }, "/x.json"],
  ["zed", { XDG_CONFIG_HOME: "/x" }, "/x/zed/settings.json"],
  ["opencode", { XDG_CONFIG_HOME: "/x" }, "/x/opencode/opencode.json"],
  ["vscode", { XDG_CONFIG_HOME: "/x" }, "/x/Code/User/mcp.json"],
])("the file of %s follows the variables %j", (id, env, file) => {
  expect(
    client(id)
      .places({ ...LINUX, env })[0]
      ?.files.at(-1),
  ).toBe(file);
});

test('servers of opencode version 2 are found one level deeper, and a server named "servers" is not mistaken for them', () => {
  const { at, servers } = client("opencode");
  const nested = { mcp: { servers: { a: { type: "local", command: ["a"] } }, timeout: 5 } };
  expect(at(nested)).toEqual(["mcp", "servers"]);
  expect(servers(nested).map(({ name }) => name)).toEqual(["a"]);
  const named = { mcp: { servers: { type: "local", command: ["a"] } } };
  expect(at(named)).toEqual(["mcp"]);
  expect(servers(named).map(({ name }) => name)).toEqual(["servers"]);
});

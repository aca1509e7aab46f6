/** The table of supported clients. */
import type { Keys } from "../config/field.ts";
import type { ClientProgram, StartCommand } from "./client.ts";
import { appData, clinePlaces, continueFolder, dotConfig, inside, joined, movable } from "./paths.ts";
import { allowedByList, isNested, isServer, listed, perProject, withoutTools } from "./servers.ts";

const CLAUDE_CODE_SHOWS = { alwaysLoad: true };
const COPILOT_SHOWS = { deferTools: "never" };

export const CLIENTS: readonly ClientProgram[] = [
  {
    id: "claude-desktop",
    title: "Claude Desktop",
    places: (machine) => [inside(appData(machine), machine, "Claude", "claude_desktop_config.json")],
    ...under("mcpServers"),
    entry: plain,
    dialect: {},
  },
  {
    id: "claude-code",
    title: "Claude Code",
    places: (machine) => {
      const chosen = machine.env["CLAUDE_CONFIG_DIR"];
      const file = joined(machine, chosen || machine.home, ".claude.json");
      return [{ files: [file], folder: chosen || joined(machine, machine.home, ".claude") }];
    },
    ...under("mcpServers"),
    servers: (file) => [...listed(file, ["mcpServers"]), ...perProject(file)],
    entry: (start) => ({ type: "stdio", ...plain(start), ...CLAUDE_CODE_SHOWS }),
    shown: CLAUDE_CODE_SHOWS,
    dialect: {},
  },
  {
    id: "cursor",
    title: "Cursor",
    places: (machine) => [inside(machine.home, machine, ".cursor", "mcp.json")],
    ...under("mcpServers"),
    entry: plain,
    dialect: {},
  },
  {
    id: "vscode",
    title: "VS Code",
    places: (machine) =>
      ["Code", "Code - Insiders"].map((edition) => {
        const folder = joined(machine, appData(machine), edition);
        return { files: [joined(machine, folder, "User", "mcp.json")], folder };
      }),
    ...under("servers"),
    entry: (start) => ({ type: "stdio", ...plain(start) }),
    dialect: {},
  },
  {
    id: "windsurf",
    title: "Windsurf",
    places: (machine) => [
      inside(joined(machine, machine.home, ".codeium"), machine, "windsurf", "mcp_config.json"),
    ],
    ...under("mcpServers"),
    entry: plain,
    dialect: {},
  },
  {
    id: "zed",
    title: "Zed",
    // On macOS Zed keeps its settings below ~/.config too.
    places: (machine) => [
      machine.platform === "win32"
        ? inside(appData(machine), machine, "Zed", "settings.json")
        : inside(dotConfig(machine), machine, "zed", "settings.json"),
    ],
    ...under("context_servers"),
    entry: (start) => ({ source: "custom", ...plain(start) }),
    dialect: {},
  },
  {
    id: "codex",
    title: "Codex",
    places: (machine) => [movable("CODEX_HOME", machine, ".codex", "config.toml")],
    ...under("mcp_servers"),
    entry: plain,
    dialect: {},
  },
  {
    id: "gemini",
    title: "Gemini CLI",
    places: (machine) => [
      inside(machine.env["GEMINI_CLI_HOME"] || machine.home, machine, ".gemini", "settings.json"),
    ],
    ...under("mcpServers"),
    servers: (file) => allowedByList(file, listed(file, ["mcpServers"])),
    entry: plain,
    dialect: { bareVariables: true, urlIsSse: true, timeoutUnitMs: 1 },
  },
  {
    id: "opencode",
    title: "opencode",
    places: (machine) => {
      const folder = joined(machine, dotConfig(machine), "opencode");
      const [newer, older] = ["opencode.jsonc", "opencode.json"].map((name) => joined(machine, folder, name));
      return [{ files: [newer ?? "", older ?? ""], folder }];
    },
    // Version 2 has the servers one level deeper and also reads the form of version 1.
    at: (file) => (isNested(file) ? ["mcp", "servers"] : ["mcp"]),
    servers: (file) =>
      withoutTools(
        file,
        isNested(file)
          ? [...listed(file, ["mcp", "servers"]), ...listed(file, ["mcp"]).filter(isServer)]
          : listed(file, ["mcp"]),
      ),
    entry: ({ command, args, env }) => ({
      type: "local",
      command: [command, ...args],
      ...(Object.keys(env).length > 0 ? { environment: env } : {}),
    }),
    dialect: {},
  },
  {
    id: "continue",
    title: "Continue",
    // Continue reads all files in this folder, so MetaMCP gets its own file and the YAML stays unchanged.
    places: (machine) => {
      const folder = continueFolder(machine);
      return [{ files: [joined(machine, folder, "mcpServers", "metamcp.json")], folder }];
    },
    alsoReads: (machine) => {
      const folder = continueFolder(machine);
      return [joined(machine, folder, "config.yaml"), joined(machine, folder, "mcpServers")];
    },
    ...under("mcpServers"),
    entry: plain,
    dialect: {},
  },
  {
    id: "cline",
    title: "Cline",
    places: clinePlaces,
    ...under("mcpServers"),
    entry: plain,
    dialect: { timeoutUnitMs: 1_000 },
  },
  {
    id: "copilot",
    title: "Copilot CLI",
    places: (machine) => [movable("COPILOT_HOME", machine, ".copilot", "mcp-config.json")],
    ...under("mcpServers"),
    entry: (start) => ({ type: "local", ...plain(start), tools: ["*"], ...COPILOT_SHOWS }),
    shown: COPILOT_SHOWS,
    dialect: { timeoutUnitMs: 1 },
  },
];

function plain({ command, args, env }: StartCommand): Keys {
  return { command, args, ...(Object.keys(env).length > 0 ? { env } : {}) };
}

function under(key: string): Pick<ClientProgram, "at" | "servers"> {
  return { at: () => [key], servers: (file) => listed(file, [key]) };
}

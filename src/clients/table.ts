/** The clients that MetaMCP knows: one row each. */
import type { Keys } from "../config/field.ts";
import type { ClientProgram, Own } from "./client.ts";
import { appData, clinePlaces, continueFolder, dotConfig, inside, joined, moved } from "./paths.ts";
import { isNested, isServer, listed, perProject } from "./servers.ts";

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
    entry: (own) => ({ type: "stdio", ...plain(own) }),
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
    entry: (own) => ({ type: "stdio", ...plain(own) }),
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
    // On macOS too it keeps its settings below ~/.config.
    places: (machine) => [
      machine.platform === "win32"
        ? inside(appData(machine), machine, "Zed", "settings.json")
        : inside(dotConfig(machine), machine, "zed", "settings.json"),
    ],
    ...under("context_servers"),
    entry: (own) => ({ source: "custom", ...plain(own) }),
    dialect: {},
  },
  {
    id: "codex",
    title: "Codex",
    places: (machine) => [moved("CODEX_HOME", machine, ".codex", "config.toml")],
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
    // Version 2 has them one level deeper, and still reads the older form.
    at: (file) => (isNested(file) ? ["mcp", "servers"] : ["mcp"]),
    servers: (file) =>
      isNested(file)
        ? [...listed(file, ["mcp", "servers"]), ...listed(file, ["mcp"]).filter(isServer)]
        : listed(file, ["mcp"]),
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
    // A file of our own in the folder it collects servers from: its YAML stays untouched.
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
    places: (machine) => [moved("COPILOT_HOME", machine, ".copilot", "mcp-config.json")],
    ...under("mcpServers"),
    entry: (own) => ({ type: "local", ...plain(own), tools: ["*"] }),
    dialect: { timeoutUnitMs: 1 },
  },
];

function plain({ command, args, env }: Own): Keys {
  return { command, args, ...(Object.keys(env).length > 0 ? { env } : {}) };
}

function under(key: string): Pick<ClientProgram, "at" | "servers"> {
  return { at: () => [key], servers: (file) => listed(file, [key]) };
}

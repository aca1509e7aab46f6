/** The paths of clients' files on each operating system. Reads no file: the machine is an argument. */
import { posix, win32 } from "node:path";
import type { ClientFilePlace, Machine } from "./client.ts";

/** Uses the separators of the given machine, not of the running one. */
export function joined({ platform }: Machine, ...parts: string[]): string {
  return platform === "win32" ? win32.join(...parts) : posix.join(...parts);
}

export function inside(parent: string, machine: Machine, name: string, file: string): ClientFilePlace {
  const folder = joined(machine, parent, name);
  return { files: [joined(machine, folder, file)], folder };
}

/** A folder below home, or the one that the variable names. */
export function movable(variable: string, machine: Machine, name: string, file: string): ClientFilePlace {
  const folder = machine.env[variable] || joined(machine, machine.home, name);
  return { files: [joined(machine, folder, file)], folder };
}

/** The folder for application data of desktop programs. */
export function appData(machine: Machine): string {
  const { platform, home, env } = machine;
  if (platform === "darwin") return joined(machine, home, "Library", "Application Support");
  if (platform === "win32") return env["APPDATA"] || joined(machine, home, "AppData", "Roaming");
  return dotConfig(machine);
}

export function dotConfig(machine: Machine): string {
  return machine.env["XDG_CONFIG_HOME"] || joined(machine, machine.home, ".config");
}

export function continueFolder(machine: Machine): string {
  return machine.env["CONTINUE_GLOBAL_DIR"] || joined(machine, machine.home, ".continue");
}

/** The file that all Cline products share, and the older file of its VS Code extension. */
export function clinePlaces(machine: Machine): readonly ClientFilePlace[] {
  const { home, env } = machine;
  const root = env["CLINE_DIR"] || joined(machine, home, ".cline");
  const data = env["CLINE_DATA_DIR"] || joined(machine, root, "data");
  const name = "cline_mcp_settings.json";
  const shared = env["CLINE_MCP_SETTINGS_PATH"] || joined(machine, data, "settings", name);
  const storage = joined(
    machine,
    appData(machine),
    "Code",
    "User",
    "globalStorage",
    "saoudrizwan.claude-dev",
  );
  return [
    { files: [shared], folder: root },
    { files: [joined(machine, storage, "settings", name)], folder: storage },
  ];
}

/** Where clients keep their files on each operating system. Looks at none: a machine is a value here. */
import { posix, win32 } from "node:path";
import type { ClientFilePlace, Machine } from "./client.ts";

/** With the separators of the machine that is meant, not of the one that runs. */
export function joined({ platform }: Machine, ...parts: string[]): string {
  return platform === "win32" ? win32.join(...parts) : posix.join(...parts);
}

export function inside(parent: string, machine: Machine, name: string, file: string): ClientFilePlace {
  const folder = joined(machine, parent, name);
  return { files: [joined(machine, folder, file)], folder };
}

/** A folder below home that a variable can put elsewhere. */
export function moved(variable: string, machine: Machine, name: string, file: string): ClientFilePlace {
  const folder = machine.env[variable] || joined(machine, machine.home, name);
  return { files: [joined(machine, folder, file)], folder };
}

/** Where programs with windows keep what is theirs. */
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

/** What all of Cline shares, and what its extension for VS Code had to itself before. */
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

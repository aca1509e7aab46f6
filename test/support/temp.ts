/** A folder, a METAMCP_HOME and a config for one test. They are deleted after the test. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Journal } from "./journal.ts";
import { atEnd } from "./shared.ts";

export const FIXTURE = fileURLToPath(new URL("../fixture/child.mjs", import.meta.url));
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface Temp {
  readonly folder: string;
  /** METAMCP_HOME. It does not exist yet. */
  readonly home: string;
  /** Path of the config file, which may not exist yet. */
  readonly config: string;
  /**
   * The environment with METAMCP_HOME and METAMCP_CONFIG, and without other variables of MetaMCP. A config in
   * METAMCP_CONFIG needs no permission.
   */
  readonly env: Readonly<Record<string, string>>;
  path(name: string): string;
  write(name: string, content: string): string;
  /** Writes the config. `more` has the keys beside `mcpServers`. */
  writeConfig(servers: Record<string, unknown>, more?: Record<string, unknown>): string;
  journal(name?: string): Journal;
}

/** Call inside a test. The folder is deleted after the test. */
export function temp(): Temp {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "metamcp-test-")));
  atEnd(async () => await remove(folder));
  const work = join(folder, "work");
  mkdirSync(work);
  const path = (name: string): string => join(work, name);
  const write = (name: string, content: string): string => {
    writeFileSync(path(name), content);
    return path(name);
  };
  const foreign = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !entry[0].startsWith("METAMCP_") && !entry[0].startsWith("METATOOLS_"),
  );
  const home = join(folder, "home");
  return {
    folder,
    home,
    config: path(".mcp.json"),
    env: { ...Object.fromEntries(foreign), METAMCP_HOME: home, METAMCP_CONFIG: path(".mcp.json") },
    path,
    write,
    writeConfig: (servers, more) =>
      write(".mcp.json", JSON.stringify({ mcpServers: servers, ...more }, null, 2)),
    journal: (name = "journal") => new Journal(path(name)),
  };
}

/** The same folder without METAMCP_CONFIG, so that MetaMCP has to find the config. */
export function withoutConfigVariable(folder: Temp): Temp {
  const { METAMCP_CONFIG: _, ...env } = folder.env;
  return { ...folder, env };
}

/**
 * Retries, because a killed process may still write into the folder. A remaining folder does not fail the
 * test.
 */
async function remove(folder: string): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Number of tools of the fixture server by default. */
export const FIXTURE_TOOLS: number = (await import("../fixture/child/tools.mjs" as string)).list.size;

/** A config entry for the fixture server. */
export function fixture(...flags: string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [FIXTURE, ...flags] };
}

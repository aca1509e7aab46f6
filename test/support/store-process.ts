/** Runs test/fixture/store-process.ts as a separate process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { atEnd } from "./shared.ts";
import { ROOT } from "./temp.ts";
import type { TestDatabase } from "./test-databases.ts";
import { until } from "./until.ts";

export interface StoreProcess {
  /** Its output lines so far. */
  readonly lines: readonly string[];
  untilLine(line: string): Promise<unknown>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

export interface StoreProgram {
  start(database: TestDatabase, task: "hold" | "write"): StoreProcess;
  remove(): void;
}

/**
 * Bundles the program, because Node 20 cannot run TypeScript. The bundle is below node_modules, so that it
 * finds the packages.
 */
export async function buildStoreProgram(): Promise<StoreProgram> {
  const cache = join(ROOT, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "store-process-"));
  const bundle = await rolldown({
    input: fileURLToPath(new URL("../fixture/store-process.ts", import.meta.url)),
    external: ["libsql", "pg-native"],
    platform: "node",
  });
  await bundle.write({ dir: folder, entryFileNames: "main.mjs", chunkFileNames: "[name]-[hash].mjs" });
  await bundle.close();
  return {
    start: (database, task) => start(join(folder, "main.mjs"), database, task),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function start(program: string, { url, home, env }: TestDatabase, task: string): StoreProcess {
  const child = spawn(process.execPath, [program, JSON.stringify({ url, home, env, task })], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines: string[] = [];
  createInterface(child.stdout).on("line", (line) => lines.push(line));
  atEnd(() => kill(child));
  return {
    lines,
    untilLine: (line) => until(() => lines.includes(line), { what: `a process to say ${line}` }),
    kill: () => kill(child),
  };
}

/** Resolves after all output was read. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}

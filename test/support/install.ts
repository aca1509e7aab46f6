/**
 * Installs packages that only some tests need, from a folder with its own lockfile. Each lockfile has its own
 * target folder, so concurrent runs do not conflict.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Timeout for the first installation without a cache. */
export const INSTALL_MS = 300_000;

/** What npm needs to reach its registry (see vitest.config.ts). */
export function networkEnv(): Record<string, string> {
  const certificates = process.env["METAMCP_TEST_CA_CERTS"] ?? "";
  return certificates === "" ? {} : { NODE_EXTRA_CA_CERTS: certificates };
}

/** Returns the `node_modules` folder for the lockfile of `folder`. */
export async function install(folder: string): Promise<string> {
  const lock = readFileSync(join(folder, "package-lock.json"));
  const store = join(folder, "node_modules");
  const home = join(store, createHash("sha256").update(lock).digest("hex").slice(0, 12));
  if (existsSync(home)) return join(home, "node_modules");
  mkdirSync(store, { recursive: true });
  const draft = mkdtempSync(join(store, ".draft-"));
  try {
    for (const file of ["package.json", "package-lock.json", ".npmrc"])
      copyFileSync(join(folder, file), join(draft, file));
    const env = { ...process.env, ...networkEnv() };
    await run("npm", ["ci", "--ignore-scripts"], { cwd: draft, env });
    renameSync(draft, home);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process may have installed it at the same time.
    if (!existsSync(home)) throw error;
  }
  return join(home, "node_modules");
}

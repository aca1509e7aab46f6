/** Packages that only some tests need, from a folder with a lockfile of its own. Installed once, beside each other per lockfile, so that two runs never meet. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** How long a first run may take where nothing is cached. */
export const INSTALL_MS = 300_000;

/** The `node_modules` with what the lockfile of `folder` names. */
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
    await run("npm", ["ci", "--ignore-scripts"], { cwd: draft });
    renameSync(draft, home);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Somebody else was quicker.
    if (!existsSync(home)) throw error;
  }
  return join(home, "node_modules");
}

// Removes the declarations in dist/types that the public ones do not use. tsc writes one for every module of
// the program, and the others would make a user's compiler look for packages that are only bundled.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const IMPORT = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

export function pruneTypes(folder, entries) {
  const used = new Set();
  const visit = (path) => {
    if (used.has(path)) return;
    used.add(path);
    for (const [, name] of readFileSync(path, "utf8").matchAll(IMPORT))
      visit(join(dirname(path), name.replace(/\.[jt]s$/, ".d.ts")));
  };
  for (const entry of entries) visit(join(folder, entry));
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !used.has(path)) rmSync(path);
  }
}

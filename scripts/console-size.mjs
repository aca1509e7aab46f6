// Fails if the first view of the console (all files that a browser loads before it shows the overview)
// exceeds its budget.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const BUDGET = 60 * 1024;

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const sizes = JSON.parse(readFileSync(join(root, "dist/console/sizes.json"), "utf8"));
const total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
const kb = (bytes) => `${(bytes / 1024).toFixed(1)} KB`;
console.log(`console: the first view takes ${kb(total)} compressed, of ${kb(BUDGET)}`);
if (total > BUDGET) {
  for (const [name, size] of Object.entries(sizes)) console.error(`  ${kb(size).padStart(9)}  ${name}`);
  process.exitCode = 1;
}

// Prints the processor time by folder, and the test files that took the most. test/support/processor-time.ts measures it.
import { readFileSync } from "node:fs";
import { relative } from "node:path";

const SHOWN = 25;

export function printTimes(report, root) {
  const rows = readFileSync(report, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .sort((a, b) => processor(b) - processor(a));
  const seconds = (of) => rows.reduce((sum, row) => sum + of(row), 0).toFixed(0);
  print(
    `\n${rows.length} files: ${seconds(processor)} s of processor time, ${seconds(({ own }) => own)} s of it in`,
  );
  print(` the workers themselves; ${seconds(({ elapsed }) => elapsed)} s elapsed in all workers together.\n`);
  print("  processor    elapsed  folder\n");
  for (const folder of byFolder(rows, root))
    print(`${column(processor(folder))} s${column(folder.elapsed)} s  ${folder.name}\n`);
  print("\n  processor    elapsed  file\n");
  for (const row of rows.slice(0, SHOWN))
    print(`${column(processor(row))} s${column(row.elapsed)} s  ${relative(root, row.file)}\n`);
}

/** A folder of test/integration or src counts for itself, as does any other of test/ or console/. */
function byFolder(rows, root) {
  const sums = new Map();
  for (const { file, own, started, elapsed } of rows) {
    const parts = relative(root, file).split("/").slice(0, -1);
    const name = parts.slice(0, parts[1] === "integration" ? 3 : 2).join("/");
    const sum = sums.get(name) ?? { name, own: 0, started: 0, elapsed: 0 };
    sums.set(name, {
      name,
      own: sum.own + own,
      started: sum.started + started,
      elapsed: sum.elapsed + elapsed,
    });
  }
  return [...sums.values()].sort((a, b) => processor(b) - processor(a));
}

const processor = ({ own, started }) => own + started;
const column = (seconds) => seconds.toFixed(1).padStart(9);
const print = (text) => process.stdout.write(text);

// Prints the test files that took the most processor time. test/support/processor-time.ts measures it.
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
  print("  processor    elapsed  file\n");
  for (const row of rows.slice(0, SHOWN))
    print(`${column(processor(row))} s${column(row.elapsed)} s  ${relative(root, row.file)}\n`);
}

const processor = ({ own, started }) => own + started;
const column = (seconds) => seconds.toFixed(1).padStart(9);
const print = (text) => process.stdout.write(text);

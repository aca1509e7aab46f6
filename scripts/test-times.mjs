// Prints the 15 test files that took longest, from the JSON report of vitest.
import { readFileSync } from "node:fs";
import { relative } from "node:path";

const SHOWN = 15;

export function printTimes(report, root) {
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  const rows = testResults
    .map(({ name, startTime, endTime, assertionResults }) => ({
      file: relative(root, name),
      seconds: (endTime - startTime) / 1_000,
      tests: assertionResults.length,
    }))
    .sort((a, b) => b.seconds - a.seconds);
  const total = rows.reduce((sum, { seconds }) => sum + seconds, 0);
  process.stdout.write(
    `\n${rows.length} files, ${Math.round(total)} s in all workers together. The longest:\n`,
  );
  for (const { file, seconds, tests } of rows.slice(0, SHOWN))
    process.stdout.write(
      `${seconds.toFixed(1).padStart(7)} s  ${String(tests).padStart(4)} tests  ${file}\n`,
    );
}

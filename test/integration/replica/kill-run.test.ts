/**
 * The kill run of `npm run bench:replicas`, shorter: replicas die and are restarted under load of clients of
 * both eras. No session is lost, no call runs twice, and each gets an answer.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FULL } from "../../support/full.ts";
import { onPostgres } from "../../support/replicas.ts";
import { ROOT } from "../../support/temp.ts";

/** `METAMCP_KILL_RUN=seconds` for a longer run. A replica dies every 20 s. */
const SECONDS = Number(process.env["METAMCP_KILL_RUN"] ?? (FULL ? 60 : 40));
/** Calls a second. What dies under them and what is counted does not depend on it. */
const RATE = FULL ? 20 : 10;
const OVERHEAD_MS = 540_000;

const BENCH = join(ROOT, "bench/replicas/run.mjs");
// Twenty clients of all kinds at all surfaces, with two credentials each.
const LOAD = ["--minutes", String(SECONDS / 60), "--sessions", "40", "--rate", String(RATE)];
const ROWS = [
  "sessions lost",
  "run twice",
  "without an answer",
  "processes left",
  "records missing",
  "the chain",
];

onPostgres("replicas under load", () => {
  test(`${SECONDS} s of kill -9, then a rolling restart`, {
    timeout: SECONDS * 1_000 + OVERHEAD_MS,
  }, async ({ signal }) => {
    const args = [BENCH, "--only", "kills", "--only", "rolling", ...LOAD, "--markdown"];
    const bench = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"], signal });
    let output = "";
    bench.stdout.on("data", (chunk: Buffer) => (output += chunk));
    await once(bench, "close");
    const rows = output.split("\n").filter((line) => / \| ≤ \S+ \| \w+ \|$/.test(line));
    for (const part of [...ROWS, "failed calls"])
      expect(rows.filter((line) => line.includes(part)).length, `${part} in ${output}`).toBeGreaterThan(0);
    expect(
      rows.every((line) => line.endsWith("| held |")),
      output,
    ).toBe(true);
  });
});

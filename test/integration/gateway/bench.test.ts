/**
 * Runs the benchmark of the gateway with the fewest calls. Checks that it has all rows, not their figures.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../support/temp.ts";

test("the gateway benchmark prints all of its rows", { timeout: 240_000 }, async ({ signal }) => {
  const args = [join(ROOT, "bench/gateway/run.mjs"), "--quick", "--markdown"];
  const bench = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"], signal });
  let output = "";
  bench.stdout.on("data", (chunk: Buffer) => (output += chunk));
  const [code] = await once(bench, "close");
  const rows = output.split("\n").filter((line) => line.startsWith("| "));
  expect(rows.filter((line) => line.includes("failed: "))).toEqual([]);
  for (const part of [
    "key, policy, rate limit, audit, metrics ÷ personal HTTP mode",
    "keys of 40 accounts ÷ one key",
    "layer rate-limit with nothing to do",
    "tools/list, 100 tools, unchanged",
    "one tool switched of 100",
    "5 namespaces over 3 servers: processes",
    "start with an empty store",
    "sums of calls at full load",
  ])
    expect(rows.filter((line) => line.includes(part)).length, part).toBeGreaterThan(0);
  expect(rows.join("\n")).toMatch(/two gateways on one Postgres|left out: no Postgres/);
  expect(code).toBe(0);
});

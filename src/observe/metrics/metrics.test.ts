import fc from "fast-check";
import { expect, test } from "vitest";
import { INSTRUMENTS } from "./instruments.ts";
import { MAX_SERIES, Metrics } from "./metrics.ts";

const linesOf = (metrics: Metrics): readonly string[] =>
  metrics
    .text()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

test("the number of series is limited, and all values are counted", () => {
  const metrics = new Metrics();
  for (let i = 0; i < 100_000; i++) {
    metrics.add("calls", ["team", `server ${i}`, `tool ${i}`, i % 2 ? "ok" : "error"]);
    metrics.add("errors", ["team", `code ${i}`]);
    metrics.observe("serverDuration", ["team", `server ${i}`, `tool ${i}`, "tools/call", ""], 1);
  }
  const calls = linesOf(metrics).filter((line) => line.startsWith("metamcp_calls_total"));
  expect(calls.length).toBeLessThanOrEqual(MAX_SERIES.counter + 2);
  const total = (lines: readonly string[]) =>
    lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  expect(total(calls)).toBe(100_000);
  // The label `outcome` is kept for values without their own series.
  expect(total(calls.filter((line) => line.includes('outcome="error"')))).toBe(50_000);
  const counts = linesOf(metrics).filter((line) =>
    line.startsWith(`${INSTRUMENTS.serverDuration.name}_count`),
  );
  expect(counts.length).toBeLessThanOrEqual(MAX_SERIES.histogram + 1);
  expect(total(counts)).toBe(100_000);
  expect(metrics.text().length).toBeLessThan(5_000_000);
});

test("a histogram has cumulative buckets and a count", () => {
  const metrics = new Metrics();
  for (const seconds of [0.005, 0.01, 0.3, 1_000]) metrics.observe("sessionDuration", ["team"], seconds);
  const text = metrics.text();
  const name = "mcp_server_session_duration_seconds";
  expect(text).toContain(`${name}_bucket{endpoint="team",le="0.01"} 2\n`);
  expect(text).toContain(`${name}_bucket{endpoint="team",le="0.2"} 2\n`);
  expect(text).toContain(`${name}_bucket{endpoint="team",le="0.5"} 3\n`);
  expect(text).toContain(`${name}_bucket{endpoint="team",le="+Inf"} 4\n`);
  expect(text).toContain(`${name}_count{endpoint="team"} 4\n`);
});

test("any label value gives one valid line", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const metrics = new Metrics();
      metrics.add("refusals", [name]);
      const lines = linesOf(metrics);
      expect(lines).toHaveLength(1);
      const labels = name === "" ? "" : 'layer="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
      expect(lines[0]).toMatch(new RegExp(`^metamcp_refusals_total\\{${labels}\\} 1$`, "u"));
    }),
  );
});

test("metric names are valid for Prometheus and unique", () => {
  const all = Object.values(INSTRUMENTS);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  for (const { name, kind, labels } of all) {
    expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    if (kind === "counter") expect(name).toMatch(/_total$/);
    for (const label of labels) expect(label).toMatch(/^[a-z][a-z0-9_]*$/);
  }
});

test("a replica is a label of every series, and nothing changes without one", () => {
  const texts = ["3f9a01bc", undefined].map((replica) => {
    const metrics = new Metrics(replica);
    metrics.set("waiting", [], 1);
    metrics.add("errors", ["team", "timeout"]);
    metrics.observe("sessionDuration", ["team"], 1);
    return linesOf(metrics).filter((line) => !line.includes("_bucket"));
  });
  expect(texts).toEqual([
    [
      'metamcp_call_errors_total{replica="3f9a01bc",endpoint="team",code="timeout"} 1',
      'mcp_server_session_duration_seconds_sum{replica="3f9a01bc",endpoint="team"} 1',
      'mcp_server_session_duration_seconds_count{replica="3f9a01bc",endpoint="team"} 1',
      'metamcp_pool_waiting{replica="3f9a01bc"} 1',
    ],
    [
      'metamcp_call_errors_total{endpoint="team",code="timeout"} 1',
      'mcp_server_session_duration_seconds_sum{endpoint="team"} 1',
      'mcp_server_session_duration_seconds_count{endpoint="team"} 1',
      "metamcp_pool_waiting 1",
    ],
  ]);
});

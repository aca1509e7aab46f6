/** The Grafana dashboard and the alert rules use existing metrics and labels, and every panel has data. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { INSTRUMENTS } from "../../../src/observe/metrics/instruments.ts";
import { ROOT } from "../../support/temp.ts";

interface Used {
  readonly metric: string;
  readonly labels: readonly string[];
}

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const { parse, usedMetrics, evaluate } = await import("../../../scripts/dashboard/promql.mjs" as string);
const { linesOf } = await import("../../../scripts/dashboard/render.mjs" as string);
const read = (path: string) => readFileSync(`${ROOT}/${path}`, "utf8");
const dashboard = JSON.parse(read("deploy/grafana-dashboard.json"));
const { groups } = parseYaml(read("deploy/prometheus-alerts.yaml"));
const recorded = JSON.parse(read("test/data/metrics/recorded.json"));
const panels: readonly Panel[] = dashboard.panels.filter(({ type }: Panel) => type !== "row");
const rules: readonly { alert: string; expr: string; annotations: object; labels: object }[] = groups.flatMap(
  ({ rules }: { rules: [] }) => rules,
);

/** Metric names as Prometheus has them: a histogram has three. */
const KNOWN = new Map<string, readonly string[]>(
  Object.values(INSTRUMENTS).flatMap(({ name, kind, labels }) =>
    kind === "histogram"
      ? [
          [`${name}_bucket`, [...labels, "le"]],
          [`${name}_sum`, labels],
          [`${name}_count`, labels],
        ]
      : [[name, labels]],
  ),
);

/** Labels that Prometheus adds to every metric. */
const SCRAPED = ["job", "instance"];
const ofPrometheus = new Map([["up", ["job", "instance"]]]);

function faultsIn(expression: string): readonly string[] {
  return (usedMetrics(parse(expression)) as readonly Used[]).flatMap(({ metric, labels }) => {
    const known = KNOWN.get(metric) ?? ofPrometheus.get(metric);
    if (!known) return [`there is no ${metric}`];
    return labels
      .filter((label) => !known.includes(label) && !SCRAPED.includes(label))
      .map((label) => `${metric} has no ${label}`);
  });
}

test("every expression uses known metrics with known labels", () => {
  const expressions = [...panels.flatMap(({ targets = [] }) => targets), ...rules].map(({ expr }) => expr);
  expect(expressions.length).toBeGreaterThan(40);
  for (const expression of expressions) expect([expression, faultsIn(expression)]).toEqual([expression, []]);
  expect(faultsIn("sum by (client) (rate(metamcp_calls_total[5m])) / nothing")).toEqual([
    "metamcp_calls_total has no client",
    "there is no nothing",
  ]);
  for (const { query } of dashboard.templating.list.slice(1)) {
    const [, metric = "", label = ""] = /^label_values\((\w+), (\w+)\)$/.exec(query.query) ?? [];
    expect([...(KNOWN.get(metric) ?? []), ...SCRAPED]).toContain(label);
    expect([...KNOWN.keys()]).toContain(metric);
  }
});

test("every metric is on the dashboard except for the listed ones", () => {
  const shown = new Set(
    panels.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) =>
        (usedMetrics(parse(expr)) as readonly Used[]).map(({ metric }) => metric),
      ),
    ),
  );
  const missing = Object.values(INSTRUMENTS)
    .map(({ name }) => name)
    .filter((name) => !shown.has(name) && !shown.has(`${name}_bucket`));
  // Shown as annotations, or intended for custom tables.
  expect(missing).toEqual([
    "mcp_server_session_duration_seconds",
    "mcp_client_session_duration_seconds",
    "metamcp_config_revision",
    "process_start_time_seconds",
    "metamcp_build_info",
  ]);
});

test("every panel has data for the recorded metrics", () => {
  for (const panel of panels) expect([panel.title, linesOf(panel).length > 0]).toEqual([panel.title, true]);
});

test("every panel shows only the chosen gateways, also beside other programs with metrics of the same name", () => {
  for (const { title, targets = [] } of panels)
    for (const { expr } of targets)
      for (const { metric, labels } of usedMetrics(parse(expr)) as readonly Used[])
        expect([title, metric, labels]).toEqual([title, metric, expect.arrayContaining(SCRAPED)]);
  // Without allValue, "All" is the list of the values found, which are those of gateways.
  for (const name of SCRAPED) {
    const variable = dashboard.templating.list.find((one: { name: string }) => one.name === name);
    expect(variable.query.query).toBe(`label_values(metamcp_build_info, ${name})`);
    expect(variable.allValue).toBeUndefined();
  }
});

test("the share of failed calls is 0 as long as no call has failed", () => {
  const failed = panels.find(({ title }) => title === "Failed");
  const data = {
    times: [0, 60],
    series: [{ name: "metamcp_calls_total", labels: { outcome: "ok", endpoint: "e" }, values: [0, 60] }],
  };
  expect(evaluate(parse(failed?.targets?.[0]?.expr ?? ""), data, 60, 60)).toEqual([{ labels: {}, value: 0 }]);
});

test("every alert rule has a summary, a description and a severity, and none fires for the recorded metrics", () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, expr, annotations, labels } of rules) {
    expect([alert, Object.keys(annotations), Object.keys(labels)]).toEqual([
      alert,
      ["summary", "description"],
      ["severity"],
    ]);
    const at = recorded.times.at(-1);
    if (!/breakers|restarts|lag/.test(expr))
      expect([alert, evaluate(parse(expr), recorded, at, 60)]).toEqual([alert, []]);
  }
});

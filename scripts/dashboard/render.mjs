// Draws deploy/grafana-dashboard.json with recorded metrics into docs/images/dashboard.svg. Not a picture of
// Grafana, but with the same data as its panels. usage: node scripts/dashboard/render.mjs
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { evaluate, parse } from "./promql.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const read = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));
const dashboard = read("deploy/grafana-dashboard.json");
const recorded = read("test/data/metrics/recorded.json");

const COLUMN = 58;
const LINE = 30;
const GAP = 8;
const TOP = 44;
const WIDTH = 24 * COLUMN + 2 * GAP;
const WINDOW_S = 20;
const COLOURS = [
  "#3b78c4",
  "#c8502d",
  "#3d9a50",
  "#8d5bb5",
  "#b8860b",
  "#2a9d9d",
  "#c2447f",
  "#6b7280",
  "#7a9a01",
  "#a0522d",
];
const UNITS = {
  reqps: (value) => `${compact(value)}/s`,
  Bps: (value) => `${compact(value)}B/s`,
  bytes: (value) => `${compact(value)}B`,
  percentunit: (value) => `${compact(value * 100)}%`,
  s: (value) => (value < 1 ? `${compact(value * 1_000)}ms` : `${compact(value)}s`),
  short: (value) => compact(value),
};

function compact(value) {
  const amount = Math.abs(value);
  const [size, sign] = amount >= 1e6 ? [1e6, "M"] : amount >= 1e3 ? [1e3, "k"] : [1, ""];
  return `${Number((value / size).toPrecision(3))}${sign}`;
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const text = (x, y, content, more = "") => `<text x="${x}" y="${y}" ${more}>${escaped(content)}</text>`;

/** The lines of a panel: name and values over time, largest first. */
export function linesOf(panel, data = recorded) {
  const lines = new Map();
  for (const { expr, legendFormat } of panel.targets) {
    const tree = parse(expr);
    for (const [at, time] of data.times.entries())
      for (const { labels, value } of evaluate(tree, data, time, WINDOW_S)) {
        const name = legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label) => labels[label] ?? "");
        const values = lines.get(name) ?? data.times.map(() => undefined);
        values[at] = value;
        lines.set(name, values);
      }
  }
  const maximum = (values) => Math.max(...values.filter((value) => value !== undefined));
  return [...lines]
    .map(([name, values]) => ({ name, values }))
    .toSorted((a, b) => maximum(b.values) - maximum(a.values));
}

function boxOf({ x, y, w, h }) {
  return { x: GAP + x * COLUMN + GAP / 2, y: TOP + y * LINE, w: w * COLUMN - GAP, h: h * LINE - GAP };
}

function path(values, area, [least, most]) {
  const step = area.w / Math.max(1, values.length - 1);
  const y = (value) => area.y + area.h * (1 - (value - least) / (most - least));
  const points = values.flatMap((value, at) =>
    value === undefined ? [] : [`${(area.x + at * step).toFixed(1)},${y(value).toFixed(1)}`],
  );
  return points.join(" ");
}

/** The range of the y axis. It always includes zero. */
function range(lines) {
  const all = lines.flatMap(({ values }) => values.filter((value) => value !== undefined));
  const [least, most] = [Math.min(0, ...all), Math.max(0, ...all)];
  return least === most ? [0, 1] : [least * 1.1, most * 1.1];
}

function stacked(lines) {
  let below = recorded.times.map(() => 0);
  return lines.map(({ name, values }) => {
    below = values.map((value, at) => below[at] + (value ?? 0));
    return { name, values: below };
  });
}

function chart(panel, box) {
  const format = UNITS[panel.fieldConfig.defaults.unit];
  const plain = linesOf(panel);
  const lines = panel.fieldConfig.defaults.custom.stacking ? stacked(plain) : plain;
  const area = { x: box.x + 52, y: box.y + 34, w: box.w - 64, h: box.h - 34 - 40 };
  const [least, most] = range(lines);
  const grid = [0, 0.5, 1].map((share) => {
    const y = area.y + area.h * (1 - share);
    const value = format(least + (most - least) * share);
    return `<path d="M${area.x} ${y}h${area.w}" stroke="#e3e6ea"/>${text(area.x - 6, y + 4, value, 'text-anchor="end" class="axis"')}`;
  });
  const drawn = lines.map(({ values }, at) => {
    const colour = COLOURS[at % COLOURS.length];
    return `<polyline points="${path(values, area, [least, most])}" fill="none" stroke="${colour}" stroke-width="1.8"/>`;
  });
  let x = box.x + 12;
  const legend = plain.flatMap(({ name }, at) => {
    const width = 16 + name.length * 6.1;
    if (x + width > box.x + box.w - 8) return [];
    const entry = `<path d="M${x} ${box.y + box.h - 14}h10" stroke="${COLOURS[at % COLOURS.length]}" stroke-width="3"/>${text(x + 14, box.y + box.h - 10, name, 'class="axis"')}`;
    x += width + 8;
    return [entry];
  });
  return [...grid, ...drawn.toReversed(), ...legend].join("");
}

function figure(panel, box) {
  const [line] = linesOf(panel);
  const values = line?.values ?? [];
  const last = values.findLast((value) => value !== undefined) ?? 0;
  const area = { x: box.x + 8, y: box.y + box.h - 34, w: box.w - 16, h: 26 };
  return [
    text(box.x + 12, box.y + 66, UNITS[panel.fieldConfig.defaults.unit](last), 'class="figure"'),
    `<polyline points="${path(values, area, range([{ values }]))}" fill="none" stroke="#9db7d8" stroke-width="1.5"/>`,
  ].join("");
}

function draw(panel) {
  const box = boxOf(panel.gridPos);
  if (panel.type === "row") return text(box.x, box.y + 18, panel.title, 'class="row"');
  const frame = `<rect x="${box.x}" y="${box.y}" width="${box.w}" height="${box.h}" rx="4" fill="#fff" stroke="#d9dde3"/>`;
  const inner = panel.type === "stat" ? figure(panel, box) : chart(panel, box);
  return `<g>${frame}${text(box.x + 12, box.y + 20, panel.title, 'class="title"')}${inner}</g>`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const bottom = Math.max(...dashboard.panels.map(({ gridPos: { y, h } }) => y + h));
  const height = TOP + bottom * LINE + 30;
  const span = Math.round(recorded.times.at(-1) - recorded.times[0]);
  const note = `Drawn by scripts/dashboard/render.mjs from ${span} s of recorded metrics of a gateway under test load. Not a picture of Grafana.`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif">
<title>The dashboard, drawn from recorded metrics</title>
<style>.title{font-size:13px;font-weight:600;fill:#24292f}.row{font-size:14px;font-weight:600;fill:#57606a}.axis{font-size:10px;fill:#6a737d}.figure{font-size:28px;font-weight:600;fill:#24292f}.name{font-size:18px;font-weight:600;fill:#24292f}</style>
<rect width="${WIDTH}" height="${height}" fill="#f4f5f7"/>
${text(GAP + 4, 28, dashboard.title, 'class="name"')}
${dashboard.panels.map(draw).join("\n")}
${text(GAP + 4, height - 10, note, 'class="axis"')}
</svg>
`;
  const out = join(root, "docs/images");
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "dashboard.svg"), svg);
}

// Evaluates the part of PromQL that the dashboard and the alert rules use, over recorded metrics. Used to
// draw the dashboard and to check both. Not a general implementation.

const NUMBER = /^\d+(\.\d+)?$/;
const TOKEN =
  /\s*(>=|<=|==|!=|=~|!~|[(){}[\],*/+<>=-]|"(?:[^"\\]|\\.)*"|\d+(?:\.\d+)?(?:[smhd](?![\w]))?|\$?[a-zA-Z_][\w:]*)/y;
const AGGREGATES = new Set(["sum", "max", "min", "avg", "count", "topk"]);
const FUNCTIONS = new Set(["rate", "increase", "histogram_quantile", "absent", "vector"]);
const ORDER = [["or"], ["and", "unless"], [">", "<", ">=", "<=", "==", "!="], ["+", "-"], ["*", "/"]];

export function parse(text) {
  const tokens = tokensOf(text);
  let at = 0;
  const peek = () => tokens[at];
  const take = (expected) => {
    if (expected !== undefined && tokens[at] !== expected)
      throw new Error(`${expected} expected, not ${tokens[at]}, in ${text}`);
    return tokens[at++];
  };
  const binary = (level) => {
    if (level === ORDER.length) return primary();
    let left = binary(level + 1);
    while (ORDER[level].includes(peek())) left = { op: take(), left, right: binary(level + 1) };
    return left;
  };
  const labels = () => {
    take("(");
    const names = [];
    while (peek() !== ")") names.push(take() === "," ? [] : tokens[at - 1]);
    take(")");
    return names.flat();
  };
  const grouping = () => {
    if (peek() !== "by") return undefined;
    take("by");
    return labels();
  };
  const list = () => {
    take("(");
    const args = [binary(0)];
    while (peek() === ",") {
      take(",");
      args.push(binary(0));
    }
    take(")");
    return args;
  };
  const primary = () => {
    if (peek() === "(") {
      take("(");
      const inner = binary(0);
      take(")");
      return inner;
    }
    const token = take();
    if (token === undefined) throw new Error(`the end comes too soon in ${text}`);
    if (NUMBER.test(token)) return { number: Number(token) };
    if (AGGREGATES.has(token)) {
      const before = grouping();
      const args = list();
      return { aggregate: token, by: before ?? grouping() ?? [], args };
    }
    if (FUNCTIONS.has(token)) return { call: token, args: list() };
    return selector(token);
  };
  const selector = (name) => {
    const matchers = [];
    if (peek() === "{") {
      take("{");
      while (peek() !== "}") {
        const [label, op, value] = [take(), take(), JSON.parse(take())];
        matchers.push({ label, op, value });
        if (peek() === ",") take();
      }
      take("}");
    }
    if (peek() !== "[") return { metric: name, matchers };
    take("[");
    const range = take();
    take("]");
    return { metric: name, matchers, range };
  };
  const tree = binary(0);
  if (at < tokens.length) throw new Error(`${peek()} is left over in ${text}`);
  return tree;
}

function tokensOf(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new Error(`cannot be read: ${text.slice(from)}`);
    found.push(match[1]);
  }
  return found;
}

/** Every metric in an expression, with the labels that are used with it. */
export function usedMetrics(tree, by = []) {
  if (tree.metric)
    return [{ metric: tree.metric, labels: [...by, ...tree.matchers.map(({ label }) => label)] }];
  if (tree.op) return [...usedMetrics(tree.left, by), ...usedMetrics(tree.right, by)];
  const inner = tree.aggregate ? tree.by : by;
  return (tree.args ?? []).flatMap((arg) => usedMetrics(arg, inner));
}

/**
 * `recorded` is {times (s), series: [{name, labels, values}]}. Returns a number or a vector [{labels,
 * value}].
 */
export function evaluate(tree, recorded, time, windowSeconds) {
  const run = (part) => evaluate(part, recorded, time, windowSeconds);
  if (tree.number !== undefined) return tree.number;
  if (tree.op) return combined(tree.op, run(tree.left), run(tree.right));
  if (tree.metric) return instant(tree, recorded, time);
  if (tree.aggregate) return aggregated(tree, tree.args.map(run));
  const [first, second] = tree.args;
  if (tree.call === "rate") return rates(first, recorded, time, windowSeconds);
  if (tree.call === "increase")
    return rates(first, recorded, time, windowSeconds).map((one) => ({
      ...one,
      value: one.value * windowSeconds,
    }));
  if (tree.call === "absent") return run(first).length === 0 ? [{ labels: {}, value: 1 }] : [];
  if (tree.call === "vector") return [{ labels: {}, value: run(first) }];
  return quantiles(run(first), run(second));
}

function matching({ metric, matchers }, { series }) {
  const fits = ({ label, op, value }, labels) => {
    const actual = labels[label] ?? "";
    // A dashboard variable matches everything.
    const pattern = new RegExp(`^(?:${value.startsWith("$") ? ".*" : value})$`);
    return {
      "=": actual === value,
      "!=": actual !== value,
      "=~": pattern.test(actual),
      "!~": !pattern.test(actual),
    }[op];
  };
  return series.filter(({ name, labels }) => name === metric && matchers.every((one) => fits(one, labels)));
}

function instant(tree, recorded, time) {
  const at = recorded.times.findLastIndex((one) => one <= time);
  return matching(tree, recorded).flatMap(({ labels, values }) =>
    values[at] === null || values[at] === undefined ? [] : [{ labels, value: values[at] }],
  );
}

function rates(tree, recorded, time, windowSeconds) {
  const { times } = recorded;
  const at = times.findLastIndex((one) => one <= time);
  const from = Math.max(
    0,
    times.findIndex((one) => one >= time - windowSeconds),
  );
  if (at <= from) return [];
  return matching(tree, recorded).flatMap(({ labels, values }) => {
    const [last, first] = [values[at], values[from] ?? 0];
    return last === null || last === undefined
      ? []
      : [{ labels, value: Math.max(0, last - first) / (times[at] - times[from]) }];
  });
}

const keyOf = (labels) => JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
const picked = (labels, names) =>
  Object.fromEntries(names.flatMap((name) => (name in labels ? [[name, labels[name]]] : [])));

function aggregated({ aggregate, by }, args) {
  if (aggregate === "topk") return args[1].toSorted((a, b) => b.value - a.value).slice(0, args[0]);
  const groups = new Map();
  for (const { labels, value } of args[0]) {
    const kept = picked(labels, by);
    const group = groups.get(keyOf(kept)) ?? { labels: kept, values: [] };
    group.values.push(value);
    groups.set(keyOf(kept), group);
  }
  const total = (values) => values.reduce((sum, value) => sum + value, 0);
  const functions = {
    sum: total,
    max: (values) => Math.max(...values),
    min: (values) => Math.min(...values),
    avg: (values) => total(values) / values.length,
    count: (values) => values.length,
  };
  return [...groups.values()].map(({ labels, values }) => ({ labels, value: functions[aggregate](values) }));
}

function combined(op, left, right) {
  const compute = { "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b };
  const compare = {
    ">": (a, b) => a > b,
    "<": (a, b) => a < b,
    ">=": (a, b) => a >= b,
    "<=": (a, b) => a <= b,
    "==": (a, b) => a === b,
    "!=": (a, b) => a !== b,
  };
  if (typeof left === "number" && typeof right === "number") return compute[op](left, right);
  if (op === "or")
    return [
      ...left,
      ...right.filter((one) => !left.some(({ labels }) => keyOf(labels) === keyOf(one.labels))),
    ];
  const all = typeof left === "number" ? right.map(({ labels }) => ({ labels, value: left })) : left;
  return all.flatMap(({ labels, value }) => {
    const other =
      typeof right === "number" ? right : right.find((one) => keyOf(one.labels) === keyOf(labels))?.value;
    if (op === "and") return other === undefined ? [] : [{ labels, value }];
    if (op === "unless") return other === undefined ? [{ labels, value }] : [];
    if (other === undefined) return [];
    if (op in compare) return compare[op](value, other) ? [{ labels, value }] : [];
    const result = compute[op](value, other);
    return Number.isFinite(result) ? [{ labels, value: result }] : [];
  });
}

/** Interpolates linearly within a bucket, like Prometheus. */
function quantiles(share, buckets) {
  const groups = new Map();
  for (const {
    labels: { le, ...labels },
    value,
  } of buckets) {
    const group = groups.get(keyOf(labels)) ?? { labels, bounds: [] };
    group.bounds.push([le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le), value]);
    groups.set(keyOf(labels), group);
  }
  return [...groups.values()].flatMap(({ labels, bounds }) => {
    const sorted = bounds.toSorted(([a], [b]) => a - b);
    const total = sorted.at(-1)?.[1] ?? 0;
    if (total === 0) return [];
    const at = sorted.findIndex(([, count]) => count >= share * total);
    const [below, before] = sorted[at - 1] ?? [0, 0];
    const [above, count] = sorted[at];
    if (above === Number.POSITIVE_INFINITY) return [{ labels, value: below }];
    return [
      {
        labels,
        value: below + ((above - below) * (share * total - before)) / Math.max(count - before, 1e-12),
      },
    ];
  });
}

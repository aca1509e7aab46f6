/**
 * Counters, gauges and histograms of the table of instruments. The number of series is limited, whatever
 * label values occur.
 */
import { BUCKETS, INSTRUMENTS, type Instrument, type InstrumentName, LABELS } from "./instruments.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Series per instrument. A histogram has a line per bucket. Further label values are counted as `other`. */
export const MAX_SERIES = { counter: 5_000, gauge: 5_000, histogram: 1_000 } as const;
/** Additional series that keep labels with few values. Limited too, in case they are not few. */
export const MAX_FOLDED = 100;
const LONGEST_LABEL = 128;
const OTHER = "other";
/** Does not occur in names. */
const SEPARATOR = "\u0001";

/** One series. Frequent callers keep a reference to it, because it never changes while the process runs. */
export class Series {
  /** For a histogram, the sum in seconds. */
  value = 0;
  /** For a histogram: number of values, and values per bucket. */
  #count = 0;
  readonly #buckets: number[] | undefined;
  readonly #name: string;
  /** In braces. */
  readonly #labels: string;

  /** `common` are labels of all series. */
  constructor({ name, kind, labels }: Instrument, values: readonly string[], common: string) {
    this.#name = name;
    const own = labelsText(labels, values);
    const all = common === "" || own === "" ? common + own : `${common},${own}`;
    this.#labels = labels.length === 0 && all === "" ? "" : `{${all}}`;
    this.#buckets = kind === "histogram" ? BUCKETS.map(() => 0) : undefined;
  }

  observe(seconds: number): void {
    this.value += seconds;
    this.#count += 1;
    const buckets = this.#buckets as number[];
    let at = 0;
    while (at < BUCKETS.length && seconds > (BUCKETS[at] as number)) at++;
    if (at < BUCKETS.length) buckets[at] = (buckets[at] as number) + 1;
  }

  /** Its lines, each with a line break. */
  text(): string {
    const name = this.#name;
    const labels = this.#labels;
    if (!this.#buckets) return `${name}${labels} ${this.value}\n`;
    const before = labels.length > 2 ? `${labels.slice(0, -1)},` : "{";
    let sum = 0;
    let text = "";
    for (let at = 0; at < BUCKETS.length; at++) {
      sum += this.#buckets[at] as number;
      text += `${name}_bucket${before}le="${BUCKETS[at]}"} ${sum}\n`;
    }
    text += `${name}_bucket${before}le="+Inf"} ${this.#count}\n`;
    return `${text}${name}_sum${labels} ${this.value}\n${name}_count${labels} ${this.#count}\n`;
  }
}

export class Metrics {
  readonly #series = new Map<InstrumentName, Map<string, Series>>();
  readonly #common: string;

  /** `replica` is a label of all series, where there may be several replicas. */
  constructor(replica?: string) {
    this.#common = replica === undefined ? "" : labelsText(["replica"], [replica]);
  }

  add(name: InstrumentName, labels: readonly string[] = [], value = 1): void {
    this.series(name, labels).value += value;
  }

  set(name: InstrumentName, labels: readonly string[], value: number): void {
    this.series(name, labels).value = value;
  }

  observe(name: InstrumentName, labels: readonly string[], seconds: number): void {
    this.series(name, labels).observe(seconds);
  }

  /** Removes all series of a gauge. */
  clear(name: InstrumentName): void {
    this.#series.delete(name);
  }

  /** The text exposition format of Prometheus, version 0.0.4. */
  text(): string {
    let text = "";
    for (const [key, { name, help, kind }] of Object.entries(INSTRUMENTS)) {
      const all = this.#series.get(key as InstrumentName);
      if (!all) continue;
      text += `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`;
      for (const series of all.values()) text += series.text();
    }
    return text;
  }

  series(name: InstrumentName, given: readonly string[]): Series {
    let all = this.#series.get(name);
    if (!all) {
      all = new Map();
      this.#series.set(name, all);
    }
    const labels = given.some(({ length }) => length > LONGEST_LABEL) ? given.map(shortened) : given;
    return all.get(keyOf(labels)) ?? this.#fold(name, all, labels);
  }

  /** Creates a series within the limit, otherwise uses the closest existing one. */
  #fold(name: InstrumentName, all: Map<string, Series>, labels: readonly string[]): Series {
    const instrument = INSTRUMENTS[name];
    const beyond = all.size - MAX_SERIES[instrument.kind];
    if (beyond < 0) return this.#create(name, all, labels);
    const reduced = folded(instrument, labels);
    const existing = all.get(keyOf(reduced));
    if (existing) return existing;
    if (beyond < MAX_FOLDED) return this.#create(name, all, reduced);
    const others = labels.map(() => OTHER);
    return all.get(keyOf(others)) ?? this.#create(name, all, others);
  }

  #create(name: InstrumentName, all: Map<string, Series>, labels: readonly string[]): Series {
    const series = new Series(INSTRUMENTS[name], labels, this.#common);
    all.set(keyOf(labels), series);
    return series;
  }
}

function keyOf(labels: readonly string[]): string {
  return labels.length === 1 ? (labels[0] as string) : labels.join(SEPARATOR);
}

function shortened(label: string): string {
  return label.slice(0, LONGEST_LABEL);
}

/** Replaces label values with `other`, except those of labels with few values, such as `outcome`. */
function folded(instrument: Instrument, values: readonly string[]): readonly string[] {
  return values.map((value, at) => {
    const label = instrument.labels[at];
    return label && "few" in LABELS[label] ? value : OTHER;
  });
}

/** Omits labels without a value, which is equivalent in Prometheus. */
function labelsText(names: readonly string[], values: readonly string[]): string {
  return names.flatMap((name, at) => (values[at] ? [`${name}="${escaped(values[at])}"`] : [])).join(",");
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

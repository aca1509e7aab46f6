/** Counts by the table of instruments. However many names come, there are never more series than this allows. */
import { BUCKETS, INSTRUMENTS, type Instrument, type InstrumentName, LABELS } from "./instruments.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Of one instrument; a histogram has a line for each bucket. What comes after is counted under `other`. */
export const MOST_SERIES = { counter: 5_000, gauge: 5_000, histogram: 1_000 } as const;
/** Beyond that, what still tells how it ended: a few values should be few, but nobody relies on it. */
export const MOST_FOLDED = 100;
const LONGEST_LABEL = 128;
const OTHER = "other";
/** Nothing in a name. */
const SEPARATOR = "\u0001";

interface Series {
  readonly labels: readonly string[];
  value: number;
  /** Of a histogram: how many fell into each bucket, and how many there were. */
  readonly buckets?: number[];
  count: number;
}

export class Metrics {
  readonly #series = new Map<InstrumentName, Map<string, Series>>();

  add(name: InstrumentName, labels: readonly string[] = [], value = 1): void {
    this.#of(name, labels).value += value;
  }

  set(name: InstrumentName, labels: readonly string[], value: number): void {
    this.#of(name, labels).value = value;
  }

  /** Seconds. */
  observe(name: InstrumentName, labels: readonly string[], seconds: number): void {
    const series = this.#of(name, labels);
    series.value += seconds;
    series.count += 1;
    const at = BUCKETS.findIndex((most) => seconds <= most);
    const buckets = series.buckets as number[];
    if (at >= 0) buckets[at] = (buckets[at] as number) + 1;
  }

  /** What a gauge told before is no longer so. */
  clear(name: InstrumentName): void {
    this.#series.delete(name);
  }

  /** The text exposition format of Prometheus, version 0.0.4. */
  text(): string {
    const lines: string[] = [];
    for (const [name, instrument] of Object.entries(INSTRUMENTS)) {
      const all = this.#series.get(name as InstrumentName);
      if (!all) continue;
      lines.push(`# HELP ${instrument.name} ${instrument.help}`);
      lines.push(`# TYPE ${instrument.name} ${instrument.kind}`);
      for (const series of all.values())
        lines.push(
          ...(series.buckets ? histogramLines(instrument, series) : [plainLine(instrument, series)]),
        );
    }
    return `${lines.join("\n")}\n`;
  }

  #of(name: InstrumentName, given: readonly string[]): Series {
    let all = this.#series.get(name);
    if (!all) {
      all = new Map();
      this.#series.set(name, all);
    }
    const labels = given.some(({ length }) => length > LONGEST_LABEL) ? given.map(shortened) : given;
    return all.get(keyOf(labels)) ?? this.#fold(name, all, labels);
  }

  /** A series of its own while there is room, else the nearest there is. */
  #fold(name: InstrumentName, all: Map<string, Series>, labels: readonly string[]): Series {
    const instrument = INSTRUMENTS[name];
    const beyond = all.size - MOST_SERIES[instrument.kind];
    if (beyond < 0) return this.#make(name, all, labels);
    const kept = folded(instrument, labels);
    const known = all.get(keyOf(kept));
    if (known) return known;
    if (beyond < MOST_FOLDED) return this.#make(name, all, kept);
    const others = labels.map(() => OTHER);
    return all.get(keyOf(others)) ?? this.#make(name, all, others);
  }

  #make(name: InstrumentName, all: Map<string, Series>, labels: readonly string[]): Series {
    const histogram = INSTRUMENTS[name].kind === "histogram";
    const series: Series = {
      labels,
      value: 0,
      count: 0,
      ...(histogram && { buckets: BUCKETS.map(() => 0) }),
    };
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

/** How it ended is told all the same: of such labels there are few values. */
function folded(instrument: Instrument, values: readonly string[]): readonly string[] {
  return values.map((value, at) => {
    const label = instrument.labels[at];
    return label && "few" in LABELS[label] ? value : OTHER;
  });
}

function plainLine({ name, labels }: Instrument, series: Series): string {
  return `${name}${labelsText(labels, series.labels)} ${series.value}`;
}

function histogramLines({ name, labels }: Instrument, series: Series): readonly string[] {
  const { buckets = [], count, value } = series;
  let sum = 0;
  const lines = BUCKETS.map((most, at) => {
    sum += buckets[at] ?? 0;
    return `${name}_bucket${labelsText([...labels, "le"], [...series.labels, String(most)])} ${sum}`;
  });
  const plain = labelsText(labels, series.labels);
  return [
    ...lines,
    `${name}_bucket${labelsText([...labels, "le"], [...series.labels, "+Inf"])} ${count}`,
    `${name}_sum${plain} ${value}`,
    `${name}_count${plain} ${count}`,
  ];
}

function labelsText(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return "";
  // A label without a value is the same as none.
  const pairs = names.flatMap((name, at) => (values[at] ? [`${name}="${escaped(values[at])}"`] : []));
  return `{${pairs.join(",")}}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

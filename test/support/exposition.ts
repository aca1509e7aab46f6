/** Parses Prometheus metrics. Refuses, like Prometheus, a sample without a type and a repeated series. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (NaN|[+-]?Inf|-?\d[\d.e+-]*)$/u;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/uy;
const HISTOGRAM_SUFFIX = /_(bucket|sum|count)$/;

export function readExposition(text: string): readonly Sample[] {
  const types = new Map<string, string>();
  const seen = new Set<string>();
  const samples: Sample[] = [];
  for (const line of text.split("\n").filter(Boolean)) {
    const [, comment, family = "", type = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (comment === "HELP") continue;
    if (comment === "TYPE") {
      if (types.has(family)) throw new Error(`${family} has two types`);
      types.set(family, type);
      continue;
    }
    const [, name = "", labels = "", value = ""] = LINE.exec(line) ?? fail(`not a line: ${line}`);
    const sampleFamily =
      types.get(name.replace(HISTOGRAM_SUFFIX, "")) === "histogram"
        ? name.replace(HISTOGRAM_SUFFIX, "")
        : name;
    if (!types.has(sampleFamily)) fail(`${name} has no type`);
    const key = `${name}{${labels}}`;
    if (seen.has(key)) fail(`twice: ${key}`);
    seen.add(key);
    samples.push({ name, labels: labelsIn(labels), value: Number(value.replace("Inf", "Infinity")) });
  }
  return samples;
}

function labelsIn(text: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name = "", value = ""] = LABEL.exec(text) ?? fail(`not labels: ${text}`);
    found[name] = value;
  }
  return found;
}

function fail(reason: string): never {
  throw new Error(reason);
}

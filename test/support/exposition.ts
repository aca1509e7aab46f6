/** Reads metrics as Prometheus does, and refuses what it would refuse: a sample without a type, or the same series twice. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (NaN|[+-]?Inf|-?\d[\d.e+-]*)$/u;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/uy;
const OF_HISTOGRAM = /_(bucket|sum|count)$/;

export function readExposition(text: string): readonly Sample[] {
  const types = new Map<string, string>();
  const seen = new Set<string>();
  const samples: Sample[] = [];
  for (const line of text.split("\n").filter(Boolean)) {
    const [, about, of = "", said = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (about === "HELP") continue;
    if (about === "TYPE") {
      if (types.has(of)) throw new Error(`${of} has two types`);
      types.set(of, said);
      continue;
    }
    const [, name = "", labels = "", value = ""] = LINE.exec(line) ?? fail(`not a line: ${line}`);
    const family =
      types.get(name.replace(OF_HISTOGRAM, "")) === "histogram" ? name.replace(OF_HISTOGRAM, "") : name;
    if (!types.has(family)) fail(`${name} has no type`);
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

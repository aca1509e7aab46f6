/** Questions that people ask, each with names that tools for it have: what a whole question means where its words do not say it. Read when first needed, absent without harm. */
import { readShipped } from "../../home/shipped.ts";
import { stem } from "./stem.ts";
import { words } from "./words.ts";

const FILE = "words/examples.txt";
const LINE = /^([^#].*) -> (.+)$/;
/** Words that stand in any question. Others that are none for a tool, like "who" or "how", tell questions apart. */
const IDLE: ReadonlySet<string> = new Set(
  "a an the of to in on at by for is are was it its that this i me my we our you your be do s t and or".split(
    " ",
  ),
);
/** Examples that are looked at for one question. */
const NEAREST = 10;
/** The least that counts as alike. */
const LEAST = 0.3;
/** Half alike is much less than half as telling. */
const STEEPNESS = 1.5;

/** What a question like this one wants. */
export interface Alike {
  /** In 0..1. */
  readonly closeness: number;
  /** Names that a tool for it may have, as words. */
  readonly names: readonly (readonly string[])[];
}

interface Example {
  readonly stems: readonly string[];
  readonly names: readonly (readonly string[])[];
}

export class Examples {
  readonly #examples: Example[] = [];
  /** By stem. */
  readonly #holders = new Map<string, number[]>();
  readonly #lengths: number[];

  constructor(text: string) {
    for (const line of text.split("\n")) {
      const [, asked = "", tools = ""] = LINE.exec(line) ?? [];
      const names = tools.split(" / ").map(words);
      for (const question of asked.split(" | ")) this.#add({ stems: stemsOf(words(question)), names });
    }
    this.#lengths = this.#examples.map(({ stems }) => this.#length(stems));
  }

  get size(): number {
    return this.#examples.length;
  }

  /** Takes the words of a question, stop words included; the likest first. */
  near(said: readonly string[]): Alike[] {
    const stems = stemsOf(said);
    const common = new Map<number, number>();
    for (const one of stems) {
      const worth = this.#worth(one) ** 2;
      for (const at of this.#holders.get(one) ?? []) common.set(at, (common.get(at) ?? 0) + worth);
    }
    const length = this.#length(stems);
    return [...common]
      .map(([at, sum]) => ({ at, cosine: sum / (length * (this.#lengths[at] as number)) }))
      .filter(({ cosine }) => cosine > LEAST)
      .sort((a, b) => b.cosine - a.cosine || a.at - b.at)
      .slice(0, NEAREST)
      .map(({ at, cosine }) => ({ closeness: cosine ** STEEPNESS, names: this.#examples[at]?.names ?? [] }));
  }

  #add(example: Example): void {
    if (example.stems.length === 0) return;
    for (const one of example.stems) {
      const list = this.#holders.get(one);
      if (list) list.push(this.#examples.length);
      else this.#holders.set(one, [this.#examples.length]);
    }
    this.#examples.push(example);
  }

  /** The rarer among the examples the more. */
  #worth(one: string): number {
    return Math.log(1 + this.#examples.length / (1 + (this.#holders.get(one)?.length ?? 0)));
  }

  #length(stems: readonly string[]): number {
    return Math.sqrt(stems.reduce((sum, one) => sum + this.#worth(one) ** 2, 0));
  }
}

function stemsOf(said: readonly string[]): string[] {
  return [...new Set(said.filter((word) => !IDLE.has(word)).map(stem))];
}

let loaded: Promise<Examples> | undefined;

/** Read once. */
export function loadExamples(): Promise<Examples> {
  loaded ??= readShipped(FILE).then((bytes) => new Examples(bytes?.toString("utf8") ?? ""));
  return loaded;
}

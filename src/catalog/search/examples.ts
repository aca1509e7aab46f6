/** Questions that people ask, each with names that tools for it have: what a whole question means where its words do not say it. Read when first needed, absent without harm. */
import { setImmediate as turn } from "node:timers/promises";
import { readShipped } from "../../home/shipped.ts";
import { Everyday, loadEveryday } from "./everyday.ts";
import { toUnit } from "./matrix.ts";
import { stem } from "./stem.ts";
import type { WordTable } from "./word-table.ts";
import { words } from "./words.ts";

const FILE = "words/examples.txt";
/** What `prepare` makes of the file, kept by the build: reading it takes a tenth of a second of processor. */
export const PREPARED_FILE = "words/examples.json";
const BAR = " | ";
const LINE = /^([^#].*) -> (.+)$/;
/** Words that stand in any question. Others that are none for a tool, like "who" or "how", tell questions apart. */
const IDLE: ReadonlySet<string> = new Set(
  "a an the of to in on at by for is are was it its that this i me my we our you your be do s t and or".split(
    " ",
  ),
);
/** What two words side by side count. */
const PAIR_WEIGHT = 0.5;
/** Meanings of one saying that are compared; the later ones are guesses. */
const MEANINGS = 2;
/** Wishes that are looked at for one question. */
const NEAREST = 10;
/** The least that counts as alike. */
const LEAST = 0.3;
/** Where no question of a wish is as alike by its words, all of them together and what they are about hardly ever come to that. */
const LEAST_LIKEST = 0.16;
/** Half alike is much less than half as telling. */
const STEEPNESS = 2;
/** What the next likest question of the same wish adds, and what is left of that for each after it. */
const NEXT_SHARE = 0.7;
const NEXT_STEEPNESS = 1.5;
/** A question of more words says itself what it wants, and each word more lets it be less like a short one. */
const SHORT = 10;
const LESS_PER_WORD = 0.1;

/** What a question like this one wants. */
export interface Alike {
  /** In 0..1. */
  readonly closeness: number;
  /** Names that a tool for it may have, as words. */
  readonly names: readonly (readonly string[])[];
}

/** A line: questions that want the same. */
interface Wish {
  readonly names: readonly (readonly string[])[];
  /** Its questions, as they are written. */
  readonly asked: string;
  readonly from: number;
  readonly to: number;
  /** Of all its questions together; made when first needed, since few wishes are ever near enough. */
  direction?: { readonly table: WordTable; readonly vector: Float32Array };
}

/** As much of the examples as takes long to find out. */
export interface Prepared {
  readonly wishes: readonly Pick<Wish, "names" | "asked" | "from" | "to">[];
  readonly marks: readonly (readonly [mark: string, holders: number[]])[];
}

/** What a mark is worth, the rarer the more, and the questions that have it. */
interface Mark {
  readonly holders: number[];
  worth: number;
}

export class Examples {
  readonly #everyday: Everyday;
  readonly #wishes: Wish[] = [];
  readonly #marks = new Map<string, Mark>();
  /** The wish of each question. */
  readonly #wishOf: number[] = [];
  #lengths = new Float64Array();
  /** What a question has in common with each; written anew for every question. */
  #common = new Float64Array();

  constructor(everyday: Everyday) {
    this.#everyday = everyday;
  }

  get size(): number {
    return this.#wishes.at(-1)?.to ?? 0;
  }

  /** Lines of the file. After the last of them `weigh` is due. */
  take(lines: readonly string[]): void {
    for (const line of lines) {
      const [, asked, tools = ""] = LINE.exec(line) ?? [];
      if (asked === undefined) continue;
      const from = this.size;
      let to = from;
      for (const question of asked.split(BAR)) {
        for (const mark of this.#marksOf(words(question))) this.#hold(mark, to);
        this.#wishOf.push(this.#wishes.length);
        to += 1;
      }
      this.#wishes.push({ names: tools.split(" / ").map(words), asked, from, to });
    }
  }

  /** In place of lines. */
  takePrepared({ wishes, marks }: Prepared): void {
    this.#wishes.push(...wishes);
    for (const [at, { from, to }] of wishes.entries())
      for (let question = from; question < to; question++) this.#wishOf.push(at);
    for (const [mark, holders] of marks) this.#marks.set(mark, { holders, worth: 0 });
  }

  prepared(): Prepared {
    const marks = [...this.#marks].map(([mark, { holders }]) => [mark, holders] as const);
    return { wishes: this.#wishes.map(({ names, asked, from, to }) => ({ names, asked, from, to })), marks };
  }

  weigh(): void {
    const squares = new Float64Array(this.size);
    for (const [mark, entry] of this.#marks) {
      entry.worth = weightOf(mark) * Math.log(1 + this.size / (1 + entry.holders.length));
      for (const at of entry.holders) squares[at] = (squares[at] as number) + entry.worth ** 2;
    }
    this.#lengths = squares.map(Math.sqrt);
    this.#common = new Float64Array(this.size);
  }

  /** Takes the words of a question, stop words included; the likest first. Without vectors, words alone are compared. */
  near(said: readonly string[], table?: WordTable): Alike[] {
    const common = this.#common.fill(0);
    const met: number[] = [];
    // A word that no question has is as telling as one that none but this one has.
    const unheard = Math.log(1 + this.size);
    let squares = 0;
    for (const mark of this.#marksOf(said)) {
      const entry = this.#marks.get(mark);
      const square = (entry?.worth ?? weightOf(mark) * unheard) ** 2;
      squares += square;
      for (const at of entry?.holders ?? NOBODY) {
        if (common[at] === 0) met.push(at);
        common[at] = (common[at] as number) + square;
      }
    }
    const length = Math.sqrt(squares);
    const near = new Set<number>();
    for (const at of met) {
      const cosine = (common[at] as number) / (this.#lengths[at] as number) / length;
      common[at] = cosine;
      if (cosine >= LEAST_LIKEST) near.add(this.#wishOf[at] as number);
    }
    const telling = said.filter(tells);
    const vector = table?.vectorOf(telling);
    const found: { names: Wish["names"]; alike: number }[] = [];
    for (const wish of [...near].sort((a, b) => a - b).map((at) => this.#wishes[at] as Wish)) {
      const own = pooled(Array.from(common.subarray(wish.from, wish.to)));
      const about = table && vector ? cosineOf(vector, direction(wish, table)) : 0;
      // What is about the same as the wish is more alike than its words say.
      const alike = own + (1 - own) * Math.sqrt(own) * Math.max(0, about) ** 2;
      if (alike > LEAST) found.push({ names: wish.names, alike });
    }
    const faith = 1 / (1 + LESS_PER_WORD * Math.max(0, new Set(telling).size - SHORT));
    found.sort((a, b) => b.alike - a.alike);
    // Where one is much liker than the others, those say little.
    const likest = found[0]?.alike ?? 1;
    return found
      .slice(0, NEAREST)
      .map(({ names, alike }) => ({ closeness: (faith * alike ** (STEEPNESS + 1)) / likest, names }));
  }

  /** Stems, stems side by side, and what sayings mean. */
  #marksOf(said: readonly string[]): string[] {
    const stems = said.map(stem);
    const marks = new Set(stems.filter((_, i) => tells(said[i] as string)));
    for (let i = 0; i + 1 < said.length; i++) {
      if (tells(said[i] as string) || tells(said[i + 1] as string)) marks.add(`${stems[i]} ${stems[i + 1]}`);
    }
    for (const { word, meant } of this.#everyday.read(said)) {
      for (const one of [word, ...meant.slice(0, MEANINGS)]) if (one !== "") marks.add(`~${stem(one)}`);
    }
    return [...marks];
  }

  #hold(mark: string, at: number): void {
    const entry = this.#marks.get(mark);
    if (entry) entry.holders.push(at);
    else this.#marks.set(mark, { holders: [at], worth: 0 });
  }
}

const NOBODY: readonly number[] = [];

function tells(word: string): boolean {
  return !IDLE.has(word);
}

function weightOf(mark: string): number {
  return mark.includes(" ") ? PAIR_WEIGHT : 1;
}

/** The likest counts whole, the others fill a part of what is missing. */
function pooled(cosines: number[]): number {
  if (cosines.length > 1) cosines.sort((a, b) => b - a);
  let sum = cosines[0] as number;
  let share = NEXT_SHARE;
  for (let i = 1; i < cosines.length; i++) {
    sum += (1 - sum) * share * (cosines[i] as number) ** NEXT_STEEPNESS;
    share *= NEXT_SHARE;
  }
  return sum;
}

function cosineOf(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += (a[d] as number) * (b[d] as number);
  return sum;
}

function direction(wish: Wish, table: WordTable): Float32Array {
  if (wish.direction?.table !== table) wish.direction = { table, vector: directionOf(wish.asked, table) };
  return wish.direction.vector;
}

/** All questions count the same. */
function directionOf(asked: string, table: WordTable): Float32Array {
  const sum = new Float32Array(table.dims);
  for (const question of asked.split(BAR)) {
    const vector = table.vectorOf(words(question).filter(tells));
    for (let d = 0; vector && d < sum.length; d++) sum[d] = (sum[d] as number) + (vector[d] as number);
  }
  return toUnit(sum);
}

/** All of the text at once. */
export function examplesOf(text: string, everyday = new Everyday("")): Examples {
  const examples = new Examples(everyday);
  examples.take(text.split("\n"));
  examples.weigh();
  return examples;
}

/** Lines that are read in one turn: all of them would hold up whoever else is served. */
const LINES_A_TURN = 50;

async function read(): Promise<Examples> {
  const [prepared, everyday] = await Promise.all([readShipped(PREPARED_FILE), loadEveryday()]);
  const examples = new Examples(everyday);
  if (prepared) examples.takePrepared(JSON.parse(prepared.toString("utf8")) as Prepared);
  else await readLines(examples);
  examples.weigh();
  return examples;
}

async function readLines(examples: Examples): Promise<void> {
  const lines = (await readShipped(FILE))?.toString("utf8").split("\n") ?? [];
  for (let at = 0; at < lines.length; at += LINES_A_TURN) {
    examples.take(lines.slice(at, at + LINES_A_TURN));
    await turn();
  }
}

let loaded: Promise<Examples> | undefined;

/** Read once. */
export function loadExamples(): Promise<Examples> {
  loaded ??= read();
  return loaded;
}

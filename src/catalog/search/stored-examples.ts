/** The index of the examples as the build stores it: made from the lines of the text files, and opened at the first search. */
import { EverydayWords } from "./everyday-words.ts";
import {
  Examples,
  featuresOf,
  featureWeight,
  Group,
  isTelling,
  NAME_SEPARATOR,
  QUESTION_SEPARATOR,
  type StoredGroup,
} from "./examples.ts";
import { hashOf, KeyTable } from "./key-table.ts";
import { KnownNames, nameKey } from "./known-names.ts";
import { words } from "./words.ts";

const LINE = /^([^#].*) -> (.+)$/;
/** Questions are stored by number, in two bytes each. */
const MAX_QUESTIONS = 65_535;
/** Must change whenever the form of `StoredExamples` does. */
const FORMAT = 2;

/** An index of example questions, as the build stores it: lists of numbers in base64. */
export interface StoredExamples {
  readonly format: number;
  readonly groups: readonly StoredGroup[];
  /** The hashes of the keys of all names (`nameKey`), and of all features (`featuresOf`), sorted: uint32. */
  readonly names: string;
  readonly features: string;
  /** How many questions each feature has, and their numbers, one after the other: uint16. */
  readonly sizes: string;
  readonly questions: string;
  /** 1 / the length of each question's vector of features: float32. */
  readonly inverseLengths: string;
}

interface ReadFeature {
  readonly key: string;
  readonly questions: number[];
}

/** Reads lines of the form `question | question -> name / name`. Yields after each line, so that the caller can pause. */
export function* readExamples(
  lines: Iterable<string>,
  everyday: EverydayWords,
): Generator<void, StoredExamples> {
  const groups: StoredGroup[] = [];
  /** By the hash of the key. */
  const features = new Map<number, ReadFeature>();
  const names = new Set<number>();
  let size = 0;
  for (const line of lines) {
    const [, questionTexts, nameTexts = ""] = LINE.exec(line) ?? [];
    if (questionTexts === undefined) continue;
    const asked = questionTexts.split(QUESTION_SEPARATOR).map(words);
    for (const allWords of asked) {
      for (const key of featuresOf(allWords, everyday)) addQuestion(features, key, size);
      size += 1;
    }
    const groupNames = nameTexts.split(NAME_SEPARATOR);
    for (const name of groupNames) names.add(hashOf(nameKey(name)));
    groups.push({
      questions: asked.map((list) => list.filter(isTelling).join(" ")).join(QUESTION_SEPARATOR),
      names: groupNames.map((name) => words(name).join(" ")).join(NAME_SEPARATOR),
      count: asked.length,
    });
    yield;
  }
  if (size > MAX_QUESTIONS) throw new Error(`There are more than ${MAX_QUESTIONS} example questions.`);
  const sorted = [...features].sort(([a], [b]) => a - b);
  return {
    format: FORMAT,
    groups,
    names: toBase64(Uint32Array.from(names).sort()),
    features: toBase64(Uint32Array.from(sorted, ([hash]) => hash)),
    sizes: toBase64(Uint16Array.from(sorted, ([, { questions }]) => questions.length)),
    questions: toBase64(Uint16Array.from(sorted.flatMap(([, { questions }]) => questions))),
    inverseLengths: toBase64(inverseLengths(features.values(), size)),
  };
}

function addQuestion(features: Map<number, ReadFeature>, key: string, question: number): void {
  const hash = hashOf(key);
  const feature = features.get(hash);
  if (!feature) features.set(hash, { key, questions: [question] });
  else if (feature.questions.at(-1) !== question) feature.questions.push(question);
}

function inverseLengths(features: Iterable<ReadFeature>, size: number): Float32Array {
  const squares = new Float64Array(size);
  for (const { key, questions } of features) {
    const square = featureWeight(key, questions.length, size) ** 2;
    for (const question of questions) squares[question] = (squares[question] as number) + square;
  }
  return Float32Array.from(squares, (square) => 1 / Math.sqrt(square));
}

/** Reads a file that the build stored. Undefined if it is damaged, or of another build that stores the index in another form. */
export function parseStored(file: Buffer): StoredExamples | undefined {
  try {
    const stored = JSON.parse(file.toString("utf8")) as StoredExamples;
    return stored.format === FORMAT ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** Makes the index from what `readExamples` returned. */
export function openExamples(stored: StoredExamples, everyday: EverydayWords): Examples {
  let from = 0;
  const groups = stored.groups.map((entry) => {
    const group = new Group(entry, from);
    from = group.to;
    return group;
  });
  const sizes = new Uint16Array(fromBase64(stored.sizes));
  const starts = new Uint32Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++) starts[i + 1] = (starts[i] as number) + (sizes[i] as number);
  return new Examples(everyday, {
    groups,
    features: new KeyTable(new Uint32Array(fromBase64(stored.features))),
    starts,
    questions: new Uint16Array(fromBase64(stored.questions)),
    inverseLengths: new Float32Array(fromBase64(stored.inverseLengths)),
    knownNames: new KnownNames(new KeyTable(new Uint32Array(fromBase64(stored.names)))),
  });
}

/** The index of a whole text. */
export function examplesOf(text: string, everyday = new EverydayWords("")): Examples {
  const reading = readExamples(text.split("\n"), everyday);
  let step = reading.next();
  while (!step.done) step = reading.next();
  return openExamples(step.value, everyday);
}

function toBase64({ buffer, byteOffset, byteLength }: NodeJS.ArrayBufferView): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

/** A copy, so that its numbers are aligned. */
function fromBase64(text: string): ArrayBuffer {
  return Uint8Array.from(Buffer.from(text, "base64")).buffer;
}

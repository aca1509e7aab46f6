/**
 * The index of the examples as the build stores it: made from the lines of the text files, and opened at the
 * first search.
 */
import { EverydayWords } from "./everyday-words.ts";
import {
  Examples,
  type ExampleTexts,
  featuresOf,
  featureWeight,
  isTelling,
  NAME_SEPARATOR,
  QUESTION_SEPARATOR,
} from "./examples.ts";
import { hashOf, KeyTable } from "./key-table.ts";
import { KnownNames, nameKey } from "./known-names.ts";
import { words } from "./words.ts";

const LINE = /^([^#].*) -> (.+)$/;
/** Questions are stored by number, in two bytes each. */
const MAX_QUESTIONS = 65_535;
/** "MCPE" as the bytes of a number, so that a machine with another order of bytes does not read the file. */
const MAGIC = 0x4550434d;
/** Must change whenever the form of the file does. */
const FORMAT = 3;

/**
 * One file, so that nothing is copied or parsed: the header, then lists of numbers, then the texts. The
 * header has the magic number, the format, and how long each list is.
 */
interface Lists {
  /** The hashes of the keys of all names (`nameKey`), and of all features (`featuresOf`), sorted. */
  readonly names: Uint32Array;
  readonly features: Uint32Array;
  /**
   * Where the questions of each feature begin in `questions`; at the end, where those of the last one end.
   */
  readonly starts: Uint32Array;
  /** The first question of each group; at the end, how many questions there are. */
  readonly firstQuestions: Uint32Array;
  /** Where the texts of each group end: that of its questions, then that of its names. */
  readonly textEnds: Uint32Array;
  /** 1 / the length of each question's vector of features. */
  readonly inverseLengths: Float32Array;
  /** The numbers of the questions that have a feature, feature by feature. */
  readonly questions: Uint16Array;
  /** Words with one space between them: the questions of a group without ignored words, then its names. */
  readonly texts: Uint8Array;
}

/** In the order of the file. Larger numbers come first, so that all are aligned. */
const KINDS = {
  names: Uint32Array,
  features: Uint32Array,
  starts: Uint32Array,
  firstQuestions: Uint32Array,
  textEnds: Uint32Array,
  inverseLengths: Float32Array,
  questions: Uint16Array,
  texts: Uint8Array,
} as const;
const NAMES = Object.keys(KINDS) as (keyof Lists)[];
const HEADER = 2 + NAMES.length;

interface ReadFeature {
  readonly key: string;
  readonly questions: number[];
}

/**
 * Reads lines of the form `question | question -> name / name`. Yields after each line, so that the caller
 * can pause.
 */
export function* readExamples(lines: Iterable<string>, everyday: EverydayWords): Generator<void, Buffer> {
  const texts: string[] = [];
  const firstQuestions: number[] = [];
  /** By the hash of the key. */
  const features = new Map<number, ReadFeature>();
  const names = new Set<number>();
  let size = 0;
  for (const line of lines) {
    const [, questionTexts, nameTexts = ""] = LINE.exec(line) ?? [];
    if (questionTexts === undefined) continue;
    firstQuestions.push(size);
    const asked = questionTexts.split(QUESTION_SEPARATOR).map(words);
    for (const allWords of asked) {
      for (const key of featuresOf(allWords, everyday)) addQuestion(features, key, size);
      size += 1;
    }
    const groupNames = nameTexts.split(NAME_SEPARATOR);
    for (const name of groupNames) names.add(hashOf(nameKey(name)));
    texts.push(
      asked.map((list) => list.filter(isTelling).join(" ")).join(QUESTION_SEPARATOR),
      groupNames.map((name) => words(name).join(" ")).join(NAME_SEPARATOR),
    );
    yield;
  }
  if (size > MAX_QUESTIONS) throw new Error(`There are more than ${MAX_QUESTIONS} example questions.`);
  const sorted = [...features].sort(([a], [b]) => a - b).map(([, feature]) => feature);
  const encoded = texts.map((text) => Buffer.from(text));
  return stored({
    names: Uint32Array.from(names).sort(),
    features: Uint32Array.from(sorted, ({ key }) => hashOf(key)),
    starts: sums(sorted.map(({ questions }) => questions.length)),
    firstQuestions: Uint32Array.from([...firstQuestions, size]),
    textEnds: sums(encoded.map(({ length }) => length)).subarray(1),
    inverseLengths: inverseLengths(sorted, size),
    questions: Uint16Array.from(sorted.flatMap(({ questions }) => questions)),
    texts: Buffer.concat(encoded),
  });
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

/** 0, then the sum of all numbers up to each one. */
function sums(numbers: readonly number[]): Uint32Array {
  const out = new Uint32Array(numbers.length + 1);
  for (const [i, number] of numbers.entries()) out[i + 1] = (out[i] as number) + number;
  return out;
}

function stored(lists: Lists): Buffer {
  const header = Uint32Array.from([MAGIC, FORMAT, ...NAMES.map((name) => lists[name].length)]);
  const parts = [header, ...NAMES.map((name) => lists[name])];
  return Buffer.concat(
    parts.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  );
}

/**
 * Views of the lists in a file. Undefined if it is damaged, or of another build that stores the index in
 * another form.
 */
function listsIn(file: Buffer): Lists | undefined {
  // A small buffer may be a part of a larger one and begin anywhere in it.
  const { buffer, byteOffset } = file.byteOffset % 4 === 0 ? file : Uint8Array.from(file);
  if (file.length < HEADER * 4) return undefined;
  const [magic, format, ...lengths] = new Uint32Array(buffer, byteOffset, HEADER);
  if (magic !== MAGIC || format !== FORMAT) return undefined;
  const sizes = NAMES.map((name, i) => (lengths[i] as number) * KINDS[name].BYTES_PER_ELEMENT);
  if (file.length !== sizes.reduce((sum, size) => sum + size, HEADER * 4)) return undefined;
  let at = byteOffset + HEADER * 4;
  const entries = NAMES.map((name, i) => {
    const list = new KINDS[name](buffer as ArrayBuffer, at, lengths[i]);
    at += list.byteLength;
    return [name, list] as const;
  });
  return Object.fromEntries(entries) as unknown as Lists;
}

/** Opens what `readExamples` returned. Undefined if the file is damaged or of another form. */
export function openExamples(file: Buffer, everyday: EverydayWords): Examples | undefined {
  const lists = listsIn(file);
  if (!lists) return undefined;
  const { names, features, starts, questions, inverseLengths: inverse, firstQuestions } = lists;
  return new Examples(everyday, {
    firstQuestions,
    textsOf: (group) => textsOf(lists, group),
    features: new KeyTable(features),
    starts,
    questions,
    inverseLengths: inverse,
    knownNames: new KnownNames(new KeyTable(names)),
  });
}

function textsOf({ texts, textEnds }: Lists, group: number): ExampleTexts {
  const bytes = Buffer.from(texts.buffer, texts.byteOffset, texts.length);
  const end = textEnds[2 * group] as number;
  return {
    questions: bytes.toString("utf8", textEnds[2 * group - 1] ?? 0, end),
    names: bytes.toString("utf8", end, textEnds[2 * group + 1]),
  };
}

/** The index of a whole text. */
export function examplesOf(text: string, everyday = new EverydayWords("")): Examples {
  const reading = readExamples(text.split("\n"), everyday);
  let step = reading.next();
  while (!step.done) step = reading.next();
  return openExamples(step.value, everyday) as Examples;
}

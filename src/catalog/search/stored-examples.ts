/** The index of the examples as the build stores it: made from the lines of the text files, and opened at the first search. */
import { EverydayWords } from "./everyday-words.ts";
import {
  Examples,
  type Feature,
  featuresOf,
  Group,
  isTelling,
  NAME_SEPARATOR,
  QUESTION_SEPARATOR,
  type StoredGroup,
} from "./examples.ts";
import { KnownNames, nameKey } from "./known-names.ts";
import { words } from "./words.ts";

const LINE = /^([^#].*) -> (.+)$/;
/** Questions are stored by number, in two bytes each. */
const MAX_QUESTIONS = 65_535;

/** An index of example questions, as the build stores it. */
export interface StoredExamples {
  readonly groups: readonly StoredGroup[];
  /** The key of each name, one per line, each once; see `nameKey`. */
  readonly names: string;
  /** One feature per line of text. */
  readonly features: string;
  /** How many questions each feature has, and their numbers, one after the other: uint16, in base64. */
  readonly sizes: string;
  readonly questions: string;
}

/** Reads lines of the form `question | question -> name / name`. Yields after each line, so that the caller can pause. */
export function* readExamples(
  lines: Iterable<string>,
  everyday: EverydayWords,
): Generator<void, StoredExamples> {
  const groups: StoredGroup[] = [];
  const features = new Map<string, number[]>();
  const keys = new Set<string>();
  let size = 0;
  for (const line of lines) {
    const [, questions, names = ""] = LINE.exec(line) ?? [];
    if (questions === undefined) continue;
    const asked = questions.split(QUESTION_SEPARATOR).map(words);
    for (const allWords of asked) {
      for (const key of featuresOf(allWords, everyday)) {
        const numbers = features.get(key);
        if (numbers) numbers.push(size);
        else features.set(key, [size]);
      }
      size += 1;
    }
    for (const name of names.split(NAME_SEPARATOR)) keys.add(nameKey(name));
    groups.push({
      questions: asked.map((list) => list.filter(isTelling).join(" ")).join(QUESTION_SEPARATOR),
      names: names
        .split(NAME_SEPARATOR)
        .map((name) => words(name).join(" "))
        .join(NAME_SEPARATOR),
      count: asked.length,
    });
    yield;
  }
  if (size > MAX_QUESTIONS) throw new Error(`There are more than ${MAX_QUESTIONS} example questions.`);
  return {
    groups,
    names: [...keys].join("\n"),
    features: [...features.keys()].join("\n"),
    sizes: toBase64([...features.values()].map(({ length }) => length)),
    questions: toBase64([...features.values()].flat()),
  };
}

/** Makes the index from what `readExamples` returned. */
export function openExamples(stored: StoredExamples, everyday: EverydayWords): Examples {
  let from = 0;
  const groups = stored.groups.map((entry) => {
    const group = new Group(entry, from);
    from = group.to;
    return group;
  });
  const sizes = fromBase64(stored.sizes);
  const questions = fromBase64(stored.questions);
  const features = new Map<string, Feature>();
  let start = 0;
  for (const [at, key] of stored.features.split("\n").entries()) {
    const end = start + (sizes[at] ?? 0);
    features.set(key, { questions: questions.subarray(start, end), weight: 0 });
    start = end;
  }
  const knownNames = new KnownNames(stored.names.split("\n"));
  return new Examples(everyday, { groups, features, knownNames });
}

/** The index of a whole text. */
export function examplesOf(text: string, everyday = new EverydayWords("")): Examples {
  const reading = readExamples(text.split("\n"), everyday);
  let step = reading.next();
  while (!step.done) step = reading.next();
  return openExamples(step.value, everyday);
}

function toBase64(numbers: readonly number[]): string {
  return Buffer.from(Uint16Array.from(numbers).buffer).toString("base64");
}

function fromBase64(text: string): Uint16Array {
  const bytes = Uint8Array.from(Buffer.from(text, "base64"));
  return new Uint16Array(bytes.buffer);
}

/**
 * Loads the examples that ship with the package at the first search: the index that the build stored, or else
 * the text files.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { readShipped, readShippedFolder } from "../../home/shipped.ts";
import { loadEverydayWords } from "./everyday-words.ts";
import type { Examples } from "./examples.ts";
import { openExamples, readExamples } from "./stored-examples.ts";

const FOLDER = "words/examples";
/** Written by the build. Reading the text files instead takes a few tenths of a second of processor time. */
export const STORED_FILE = "words/examples.bin";
/** Lines to read before other work gets a turn. */
const LINES_PER_TURN = 50;

/** The index of the text files, as the build stores it. */
export async function readExampleFiles(): Promise<Buffer> {
  const texts = await readShippedFolder(FOLDER);
  const lines = texts.flatMap((text) => text.toString("utf8").split("\n"));
  const reading = readExamples(lines, await loadEverydayWords());
  for (let read = 1; ; read++) {
    const { done, value } = reading.next();
    if (done) return value;
    if (read % LINES_PER_TURN === 0) await nextTurn();
  }
}

async function load(): Promise<Examples> {
  const everyday = await loadEverydayWords();
  const file = await readShipped(STORED_FILE);
  const stored = file && openExamples(file, everyday);
  return stored ?? (openExamples(await readExampleFiles(), everyday) as Examples);
}

let loaded: Promise<Examples> | undefined;

/** Without the files there are no examples, and search uses words and vectors only. */
export function loadExamples(): Promise<Examples> {
  loaded ??= load();
  return loaded;
}

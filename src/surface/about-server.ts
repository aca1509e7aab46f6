/** Describes what a server is for, from its instructions, else from its title and tools. */
import type { Listing } from "../catalog/catalog.ts";
import { clip } from "../catalog/read-tool.ts";
import { summarize } from "../catalog/summary.ts";

const LONGEST_INSTRUCTIONS = 1_000;
const LONGEST_PURPOSE = 120;
const SENTENCE = /^[^\n]*?[.!?](?=\s|$)/;

export function instructionsOf({ about }: Listing): string | undefined {
  const text = about.instructions?.trim();
  if (!text) return undefined;
  return text.length <= LONGEST_INSTRUCTIONS ? text : `${clip(text, LONGEST_INSTRUCTIONS - 1)}…`;
}

/** Returns one line; undefined for a server without instructions, title and tools. */
export function purposeOf(server: string, { about, tools }: Listing): string | undefined {
  const sentence = firstSentence(about.instructions);
  if (sentence) return summarize(sentence, LONGEST_PURPOSE);
  const names = tools.map(({ name }) => name).join(", ");
  const title = about.title === server ? undefined : about.title;
  const text = [title, names].filter(Boolean).join(": ");
  return text === "" ? undefined : summarize(text, LONGEST_PURPOSE);
}

/** Skips short lines such as headings, and removes Markdown marks. */
function firstSentence(instructions: string | undefined): string | undefined {
  const line = instructions
    ?.split("\n")
    .map((one) => one.replace(/^[\s#>*-]+/, "").trim())
    .find((one) => one.length > 20);
  return line && (SENTENCE.exec(line)?.[0] ?? line);
}

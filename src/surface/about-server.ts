/** What a server is for: in its own words, else by what it offers. */
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

/** One line; undefined for one that says nothing and offers nothing. */
export function purposeOf(server: string, { about, tools }: Listing): string | undefined {
  const said = firstSentence(about.instructions);
  if (said) return summarize(said, LONGEST_PURPOSE);
  const names = tools.map(({ name }) => name).join(", ");
  const title = about.title === server ? undefined : about.title;
  const text = [title, names].filter(Boolean).join(": ");
  return text === "" ? undefined : summarize(text, LONGEST_PURPOSE);
}

/** Past headings and marks of lists. */
function firstSentence(instructions: string | undefined): string | undefined {
  const line = instructions
    ?.split("\n")
    .map((one) => one.replace(/^[\s#>*-]+/, "").trim())
    .find((one) => one.length > 20);
  return line && (SENTENCE.exec(line)?.[0] ?? line);
}

/** Finds the words of two texts that differ. Pure. */
import { commonItems } from "./diff-lines.ts";

export interface WordPart {
  readonly text: string;
  readonly changed: boolean;
}

/** If less than this share of the words is common, single words say nothing. */
const COMMON = 0.3;

/** Both texts in parts. Undefined if they have too little in common. */
export function diffWords(
  before: string,
  after: string,
): readonly [before: readonly WordPart[], after: readonly WordPart[]] | undefined {
  const a = words(before);
  const b = words(after);
  const pairs = commonItems(a, b);
  if (pairs.filter(([at]) => /\w/.test(a[at] ?? "")).length < (COMMON * Math.min(a.length, b.length)) / 2)
    return undefined;
  return [parts(a, new Set(pairs.map(([x]) => x))), parts(b, new Set(pairs.map(([, y]) => y)))];
}

function words(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function parts(all: readonly string[], common: ReadonlySet<number>): readonly WordPart[] {
  const found: WordPart[] = [];
  for (const [at, text] of all.entries()) {
    const changed = !common.has(at);
    const last = found.at(-1);
    if (last?.changed === changed) found[found.length - 1] = { text: last.text + text, changed };
    else found.push({ text, changed });
  }
  return found;
}

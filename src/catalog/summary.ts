/**
 * Shortens a description for a list: at the end of a sentence if one fits, else at a word, never inside a
 * character.
 */

const SENTENCE_END = /[.!?](?=\s)|[。！？]/g;
/** Abbreviations such as "e.g." and single letters such as initials do not end a sentence. */
const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|[a-z])\.$/i;
/** If the sentences that fit fill less than this share of the limit, the text is cut at a word instead. */
const MIN_SHARE = 0.3;
const ELLIPSIS = "…";
/** No real grapheme is longer in code units. */
const WINDOW = 64;

let segmenter: Intl.Segmenter | undefined;

/** Returns one line of at most `maxLength` UTF-16 units. */
export function summarize(text: string, maxLength: number): string {
  // White space is collapsed, so eight times the limit is enough text to look at.
  const line = text
    .slice(0, maxLength * 8)
    .replaceAll(/\s+/g, " ")
    .trim();
  if (line.length <= maxLength) return text.length > maxLength * 8 ? cutAtWord(line, maxLength) : line;
  const end = lastSentenceEnd(line, maxLength);
  if (end >= maxLength * MIN_SHARE) return line.slice(0, end);
  return cutAtWord(line, maxLength);
}

function lastSentenceEnd(line: string, maxLength: number): number {
  let last = 0;
  for (const match of line.matchAll(SENTENCE_END)) {
    const end = match.index + 1;
    if (end > maxLength) break;
    if (!ABBREVIATION.test(line.slice(Math.max(0, end - 8), end))) last = end;
  }
  return last;
}

function cutAtWord(line: string, maxLength: number): string {
  if (maxLength < 1) return "";
  const room = maxLength - ELLIPSIS.length;
  const space = line.lastIndexOf(" ", room);
  const cut = space > room * (1 - MIN_SHARE) ? space : characterStart(line, room);
  return `${line.slice(0, cut).trimEnd()}${ELLIPSIS}`;
}

/** The start of the grapheme that covers `at`. */
function characterStart(line: string, at: number): number {
  if (at >= line.length) return line.length;
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  const from = surrogateStart(line, Math.max(0, at - WINDOW));
  const start = segmenter.segment(line.slice(from, at + WINDOW)).containing(at - from)?.index;
  return start === undefined || (start === 0 && from > 0) ? surrogateStart(line, at) : from + start;
}

/** Moves `at` back if it is between the halves of a surrogate pair. */
function surrogateStart(line: string, at: number): number {
  const unit = line.charCodeAt(at);
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

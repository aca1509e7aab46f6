/** Shortens a description for a list: at the end of a sentence if one fits, else at a word, never inside a character. */

const SENTENCE_END = /[.!?](?=\s)|[。！？]/g;
/** "e.g. " and "v2. 1" end no sentence; neither does a single letter, as in initials. */
const NO_END = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|[a-z])\.$/i;
/** A first sentence shorter than this share of the room says too little; then words fill it. */
const LEAST_SHARE = 0.3;
const MARK = "…";
/** No real character is longer in code units. */
const WINDOW = 64;

let segmenter: Intl.Segmenter | undefined;

/** At most `most` UTF-16 units, on one line. */
export function summarize(text: string, most: number): string {
  // White space shrinks, so that a few times the room is enough to look at.
  const line = text
    .slice(0, most * 8)
    .replaceAll(/\s+/g, " ")
    .trim();
  if (line.length <= most) return text.length > most * 8 ? withMark(line, most) : line;
  const end = lastSentenceEnd(line, most);
  if (end >= most * LEAST_SHARE) return line.slice(0, end);
  return withMark(line, most);
}

function lastSentenceEnd(line: string, most: number): number {
  let last = 0;
  for (const match of line.matchAll(SENTENCE_END)) {
    const end = match.index + 1;
    if (end > most) break;
    if (!NO_END.test(line.slice(Math.max(0, end - 8), end))) last = end;
  }
  return last;
}

function withMark(line: string, most: number): string {
  if (most < 1) return "";
  const room = most - MARK.length;
  const space = line.lastIndexOf(" ", room);
  const cut = space > room * (1 - LEAST_SHARE) ? space : characterStart(line, room);
  return `${line.slice(0, cut).trimEnd()}${MARK}`;
}

/** Where the character that covers `at` begins. */
function characterStart(line: string, at: number): number {
  if (at >= line.length) return line.length;
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  const from = wholeFrom(line, Math.max(0, at - WINDOW));
  const start = segmenter.segment(line.slice(from, at + WINDOW)).containing(at - from)?.index;
  return start === undefined || (start === 0 && from > 0) ? wholeFrom(line, at) : from + start;
}

/** Not between the halves of a surrogate pair. */
function wholeFrom(line: string, at: number): number {
  const unit = line.charCodeAt(at);
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

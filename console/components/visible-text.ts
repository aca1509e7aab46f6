/**
 * Splits untrusted text into visible parts and placeholders for characters that are invisible or reverse the
 * text.
 */
export interface TextPart {
  readonly text: string;
  /** Code point in hex, if `text` is a placeholder for an invisible character. */
  readonly code?: string;
}

/**
 * Characters without width or that reverse text, except tab, line ends, joiners after non-ASCII characters
 * and the two variation selectors of emoji.
 */
const INVISIBLE =
  /(?!\t|\n|\r|(?<=\P{ASCII})\u200c|(?<=\P{ASCII})\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Names of the first 32 characters. */
const CONTROLS =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(
    " ",
  );

export function visibleParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const found of text.matchAll(INVISIBLE)) {
    if (found.index > end) parts.push({ text: text.slice(end, found.index) });
    parts.push(placeholderOf(found[0]));
    end = found.index + found[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

/** The same as a string, for attributes: titles, names for screen readers. */
export function visibleText(text: string): string {
  return visibleParts(text)
    .map((part) => part.text)
    .join("");
}

function placeholderOf(character: string): TextPart {
  const point = character.codePointAt(0) ?? 0;
  const code = point.toString(16).toUpperCase().padStart(4, "0");
  return { text: `‹${CONTROLS[point] ?? (point === 0x7f ? "DEL" : code)}›`, code };
}

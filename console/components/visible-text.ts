/**
 * Splits untrusted text into visible parts and placeholders for characters that are invisible, reverse the
 * text, or pile up over other lines.
 */
export interface TextPart {
  readonly text: string;
  /** Code point in hex, if `text` is a placeholder; of many, the first. */
  readonly code?: string;
}

/**
 * Characters without width or that reverse text, except tab, line ends, joiners after non-ASCII characters
 * and the two variation selectors of emoji.
 */
const INVISIBLE =
  /(?!\t|\n|\r|(?<=\P{ASCII})\u200c|(?<=\P{ASCII})\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Marks above and below one letter. No script needs as many as are left out. */
const PILE = /(?<=[\p{Mn}\p{Me}]{4})[\p{Mn}\p{Me}]+/gu;

/** Names of the first 32 characters. */
const CONTROLS =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(
    " ",
  );

export function visibleParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  const found = [...text.matchAll(INVISIBLE), ...text.matchAll(PILE)].toSorted((a, b) => a.index - b.index);
  for (const { 0: characters, index } of found) {
    // A mark can be of both kinds.
    if (index < end) continue;
    if (index > end) parts.push({ text: text.slice(end, index) });
    parts.push(placeholderOf(characters));
    end = index + characters.length;
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

function placeholderOf(characters: string): TextPart {
  const point = characters.codePointAt(0) ?? 0;
  const code = point.toString(16).toUpperCase().padStart(4, "0");
  const { length } = Array.from(characters);
  if (length > 1) return { text: `‹${length} × ${code}›`, code };
  return { text: `‹${CONTROLS[point] ?? (point === 0x7f ? "DEL" : code)}›`, code };
}

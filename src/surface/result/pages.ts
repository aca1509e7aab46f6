/** Cuts a stored result into pages. Joined in order they are the whole result byte for byte. */
import type { ResultSegment } from "./segments.ts";

export interface ResultPage {
  /** JSON text or base64. */
  readonly text: string;
  /** The type of base64 data; undefined for JSON text. */
  readonly mimeType: string | undefined;
  /** The page contains a whole image or file. */
  readonly wholeBinary: boolean;
  /** The offset of the next page. */
  readonly next: number | undefined;
}

/** Size of a page in bytes on the wire, with escapes. Leaves room for the rest of the message in 32 KB. */
export const PAGE_BYTES = 32_000;

/** Returns undefined if no page can start at this offset. */
export function pageAt(segments: readonly ResultSegment[], offset: number): ResultPage | undefined {
  let start = 0;
  for (const [index, { bytes, mimeType }] of segments.entries()) {
    const from = offset - start;
    if (from < bytes.length) {
      const to = mimeType === undefined ? endOfText(bytes, from) : endOfBase64(bytes, from);
      if (to === undefined) return undefined;
      const last = to === bytes.length && index === segments.length - 1;
      return {
        text: bytes.toString(mimeType === undefined ? "utf8" : "latin1", from, to),
        mimeType,
        wholeBinary: mimeType !== undefined && from === 0 && to === bytes.length,
        next: last ? undefined : start + to,
      };
    }
    start += bytes.length;
  }
  return undefined;
}

/** Pages start at groups of four characters, because a group encodes whole bytes. */
function endOfBase64(bytes: Buffer, from: number): number | undefined {
  return from % 4 === 0 ? Math.min(bytes.length, from + PAGE_BYTES) : undefined;
}

function endOfText(bytes: Buffer, from: number): number | undefined {
  if (isInside(bytes, from)) return undefined;
  let room = PAGE_BYTES;
  let to = from;
  for (; to < bytes.length; to++) {
    const c = bytes[to] as number;
    room -= c === 0x22 || c === 0x5c || c < 0x20 ? 2 : 1;
    if (room < 0) break;
  }
  while (to < bytes.length && isInside(bytes, to)) to--;
  return to;
}

/** Whether the position is not the first byte of a character. */
function isInside(bytes: Buffer, at: number): boolean {
  return ((bytes[at] as number) & 0xc0) === 0x80;
}

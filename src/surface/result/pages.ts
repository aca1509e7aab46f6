/** Cuts a stored result into pages. Joined in their order they are the whole, to the last byte. */
import type { ResultSegment } from "./segments.ts";

export interface ResultPage {
  /** JSON text or base64. */
  readonly text: string;
  /** Of base64; undefined for JSON text. */
  readonly mimeType: string | undefined;
  /** It holds a binary from its beginning to its end. */
  readonly wholeBinary: boolean;
  /** Where the next one begins. */
  readonly next: number | undefined;
}

/** In bytes as they go over the wire, escapes counted; leaves room for what stands around it in 32 KB. */
export const PAGE_BYTES = 32_000;

/** Undefined where no page can begin. */
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

/** Groups of four characters are whole bytes. */
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

/** Not at the first byte of a character. */
function isInside(bytes: Buffer, at: number): boolean {
  return ((bytes[at] as number) & 0xc0) === 0x80;
}

/**
 * Splits a result into segments for paging: JSON text, and the base64 data of images, audio and files, which
 * is never returned as text.
 */
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { elements, member, members, textAt } from "../../rpc/slice.ts";

export interface ResultSegment {
  readonly bytes: Buffer;
  /** The type of base64 data; undefined for JSON text. */
  readonly mimeType: string | undefined;
}

/** For each byte: 1 if it may occur in base64 of either alphabet, or in an escaped slash. */
const BASE64 = new Uint8Array(256);
for (const c of Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\\"))
  BASE64[c] = 1;
/** Shorter data stays in the JSON text. */
const SHORTEST_BINARY = 64;
const BACKSLASH = 0x5c;
const SLASH = new Set<number | undefined>(Buffer.from("/"));
const SLASH_AND_LINE_BREAKS = new Set<number | undefined>(Buffer.from("/rn"));
const DATA_URL = /^data:[^,"]*;base64,/;
const LONGEST_PREFIX = 200;
const IMAGE = toRaw("image");
const AUDIO = toRaw("audio");

/**
 * The segments joined are the result, except that inside base64 escapes are decoded and line breaks, which
 * have no meaning there, are removed.
 */
export function segmentsOf(result: Raw): readonly ResultSegment[] {
  const segments: ResultSegment[] = [];
  let from = 0;
  for (const { data, mimeType } of binariesOf(result)) {
    const at = data.byteOffset - result.byteOffset;
    segments.push({ bytes: result.subarray(from, at), mimeType: undefined });
    segments.push({ bytes: data.includes(BACKSLASH) ? unescaped(data) : data, mimeType });
    from = at + data.length;
  }
  segments.push({ bytes: result.subarray(from), mimeType: undefined });
  return segments;
}

function unescaped(data: Buffer): Buffer {
  const text = JSON.parse(`"${data.toString("latin1")}"`) as string;
  return Buffer.from(text.replaceAll(/[\r\n]/g, ""));
}

interface Binary {
  /** The base64 text without quotes. */
  readonly data: Buffer;
  readonly mimeType: string;
}

function binariesOf(result: Raw): readonly Binary[] {
  const content = member(result, "content");
  return content ? elements(content).flatMap((block) => binaryOf(block) ?? []) : [];
}

/** Returns the base64 data of a content block, also of an unknown type. */
function binaryOf(block: Raw): Binary | undefined {
  const [data, mimeType, resource, type] = members(block, ["data", "mimeType", "resource", "type"]);
  const [blob, blobType] = resource ? members(resource, ["blob", "mimeType"]) : [];
  const written = data ?? blob;
  if (written?.[0] !== 0x22) return undefined;
  const inner = written.subarray(1 + prefixOf(written), -1);
  // In a block of an unknown type, lines of letters may be plain text, so line breaks are not allowed there.
  const declared = !data || type?.equals(IMAGE) || type?.equals(AUDIO);
  if (inner.length < SHORTEST_BINARY || !isBase64(inner, declared ? SLASH_AND_LINE_BREAKS : SLASH))
    return undefined;
  return { data: inner, mimeType: mimeTypeIn(data ? mimeType : blobType) };
}

/** The length of a `data:` URL prefix. Some servers write a data URL instead of the data. */
function prefixOf(written: Raw): number {
  return DATA_URL.exec(written.toString("latin1", 1, LONGEST_PREFIX))?.[0].length ?? 0;
}

/** `escapes` are the characters that may follow a backslash. */
function isBase64(inner: Buffer, escapes: ReadonlySet<number | undefined>): boolean {
  for (let i = 0; i < inner.length; i++) {
    if (BASE64[inner[i] as number] === 0) return false;
    if (inner[i] === BACKSLASH && !escapes.has(inner[++i])) return false;
  }
  return true;
}

function mimeTypeIn(mimeType: Raw | undefined): string {
  return mimeType?.[0] === 0x22 ? textAt(asRaw(mimeType), 0).slice(0, 100) : "application/octet-stream";
}

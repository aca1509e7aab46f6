/** A result taken apart for reading: its JSON text, and between the quotes of images, sounds and files what they hold, which is never shown as text. */
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { elements, member, members, textAt } from "../../rpc/slice.ts";

export interface ResultSegment {
  readonly bytes: Buffer;
  /** Of base64; undefined for JSON text. */
  readonly mimeType: string | undefined;
}

/** By byte: whether base64, of either alphabet, may hold it; escaped slashes too. */
const BASE64 = new Uint8Array(256);
for (const c of Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\\"))
  BASE64[c] = 1;
/** Shorter ones cost nothing wherever they stand. */
const SHORTEST = 64;
const BACKSLASH = 0x5c;
const SLASH = new Set<number | undefined>(Buffer.from("/"));
const LINES = new Set<number | undefined>(Buffer.from("/rn"));
const ADDRESS = /^data:[^,"]*;base64,/;
const LONGEST_PREFIX = 200;
const IMAGE = toRaw("image");
const AUDIO = toRaw("audio");

/** The segments one after the other are the result; only inside of base64 escapes are undone and line breaks left out, which mean nothing there. */
export function segmentsOf(result: Raw): readonly ResultSegment[] {
  const segments: ResultSegment[] = [];
  let from = 0;
  for (const { data, mimeType } of binariesOf(result)) {
    const at = data.byteOffset - result.byteOffset;
    segments.push({ bytes: result.subarray(from, at), mimeType: undefined });
    segments.push({ bytes: data.includes(BACKSLASH) ? bare(data) : data, mimeType });
    from = at + data.length;
  }
  segments.push({ bytes: result.subarray(from), mimeType: undefined });
  return segments;
}

function bare(data: Buffer): Buffer {
  const text = JSON.parse(`"${data.toString("latin1")}"`) as string;
  return Buffer.from(text.replaceAll(/[\r\n]/g, ""));
}

interface Binary {
  /** Between its quotes. */
  readonly data: Buffer;
  readonly mimeType: string;
}

function binariesOf(result: Raw): readonly Binary[] {
  const content = member(result, "content");
  return content ? elements(content).flatMap((block) => binaryOf(block) ?? []) : [];
}

/** What a content block of ours or of kinds to come holds in base64. */
function binaryOf(block: Raw): Binary | undefined {
  const [data, mimeType, resource, type] = members(block, ["data", "mimeType", "resource", "type"]);
  const [blob, blobType] = resource ? members(resource, ["blob", "mimeType"]) : [];
  const written = data ?? blob;
  if (written?.[0] !== 0x22) return undefined;
  const inner = written.subarray(1 + prefixOf(written), -1);
  // Lines of letters alone may be words, where nothing says what they are.
  const declared = !data || type?.equals(IMAGE) || type?.equals(AUDIO);
  if (inner.length < SHORTEST || !isBase64(inner, declared ? LINES : SLASH)) return undefined;
  return { data: inner, mimeType: nameOf(data ? mimeType : blobType) };
}

/** Some write a whole address where the data belong. */
function prefixOf(written: Raw): number {
  return ADDRESS.exec(written.toString("latin1", 1, LONGEST_PREFIX))?.[0].length ?? 0;
}

/** `escapes`: what may be written with a backslash. */
function isBase64(inner: Buffer, escapes: ReadonlySet<number | undefined>): boolean {
  for (let i = 0; i < inner.length; i++) {
    if (BASE64[inner[i] as number] === 0) return false;
    if (inner[i] === BACKSLASH && !escapes.has(inner[++i])) return false;
  }
  return true;
}

function nameOf(mimeType: Raw | undefined): string {
  return mimeType?.[0] === 0x22 ? textAt(asRaw(mimeType), 0).slice(0, 100) : "application/octet-stream";
}

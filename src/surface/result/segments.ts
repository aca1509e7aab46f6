/** A result taken apart for reading: its JSON text, and between the quotes of images, sounds and files what they hold, which is never shown as text. */
import { asRaw, type Raw } from "../../kernel/raw.ts";
import { elements, members, textAt } from "../../rpc/slice.ts";

export interface Segment {
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

/** The segments one after the other are the result; only escapes inside of base64, which need none, are undone. */
export function segmentsOf(result: Raw): readonly Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  for (const { data, mimeType } of binariesOf(result)) {
    const at = data.byteOffset - result.byteOffset;
    segments.push({ bytes: result.subarray(from, at + 1), mimeType: undefined });
    const escaped = data.includes(0x5c);
    segments.push({ bytes: escaped ? Buffer.from(textAt(data, 0)) : data.subarray(1, -1), mimeType });
    from = at + data.length - 1;
  }
  segments.push({ bytes: result.subarray(from), mimeType: undefined });
  return segments;
}

interface Binary {
  /** With its quotes. */
  readonly data: Raw;
  readonly mimeType: string;
}

function binariesOf(result: Raw): readonly Binary[] {
  const [content] = members(result, ["content"]);
  return content ? elements(content).flatMap((block) => binaryOf(block) ?? []) : [];
}

/** What a content block of ours or of kinds to come holds in base64. */
function binaryOf(block: Raw): Binary | undefined {
  const [data, mimeType, resource] = members(block, ["data", "mimeType", "resource"]);
  const [blob, blobType] = resource ? members(resource, ["blob", "mimeType"]) : [];
  const written = data ?? blob;
  if (!written || written.length < SHORTEST || !isBase64(written)) return undefined;
  return { data: written, mimeType: nameOf(data ? mimeType : blobType) };
}

function isBase64(written: Raw): boolean {
  const end = written.length - 1;
  if (written[0] !== 0x22) return false;
  for (let i = 1; i < end; i++) {
    if (BASE64[written[i] as number] === 0) return false;
    if (written[i] === 0x5c && written[++i] !== 0x2f) return false;
  }
  return true;
}

function nameOf(mimeType: Raw | undefined): string {
  return mimeType?.[0] === 0x22 ? textAt(asRaw(mimeType), 0).slice(0, 100) : "application/octet-stream";
}

/** Batches: several messages in one array. Only revision 2025-03-26 has them. */
import { asRaw } from "../kernel/raw.ts";
import { encode } from "./encode.ts";
import type { Malformed, Message } from "./message.ts";
import { INVALID_REQUEST } from "./rpc-error.ts";
import { readKnownMessage, withoutLineBreaks } from "./scan.ts";
import { elements, isArray } from "./slice.ts";

/** A larger batch would block other clients for too long. */
export const MAX_IN_BATCH = 100;

const OPEN = Buffer.from("[");
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");

/**
 * Reads bytes that are no single message. Returns the messages of a batch, undefined if it is no array, or a
 * Malformed if the batch is invalid.
 */
export function readBatch(
  bytes: Buffer,
  { code }: Malformed,
): readonly (Message | Malformed)[] | Malformed | undefined {
  // Another code means that the bytes are not valid JSON.
  if (code !== INVALID_REQUEST || !isArray(asRaw(bytes))) return undefined;
  const hasLineBreaks = bytes.includes("\n") || bytes.includes("\r");
  const written = asRaw(hasLineBreaks ? withoutLineBreaks(bytes) : bytes);
  const found = elements(written, MAX_IN_BATCH + 1);
  if (found.length === 0) return fault("a batch is empty");
  if (found.length > MAX_IN_BATCH) return fault(`a batch may have ${MAX_IN_BATCH} messages`);
  return found.map(readKnownMessage);
}

function fault(reason: string): Malformed {
  return { kind: "malformed", code: INVALID_REQUEST, reason, id: undefined, meant: undefined };
}

export function encodeBatch(messages: readonly Message[]): Buffer[] {
  const parts: Buffer[] = [];
  for (const message of messages) {
    parts.push(parts.length === 0 ? OPEN : COMMA);
    encode(message, parts);
  }
  parts.push(CLOSE);
  return parts;
}

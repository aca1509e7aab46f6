/** Several messages in one array, as revision 2025-03-26 alone has them. */
import { asRaw } from "../kernel/raw.ts";
import { encode } from "./encode.ts";
import type { Malformed, Message } from "./message.ts";
import { INVALID_REQUEST } from "./rpc-error.ts";
import { readMessage } from "./scan.ts";
import { elements, isArray } from "./slice.ts";

/** Who sends more would hold up everybody else. */
export const MOST_IN_BATCH = 100;

const OPEN = Buffer.from("[");
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");

/** The messages of what was found to be none; undefined where it is no array either, and a fault where it is no batch. */
export function readBatch(
  bytes: Buffer,
  { code }: Malformed,
): readonly (Message | Malformed)[] | Malformed | undefined {
  const written = asRaw(bytes);
  // What is not even JSON holds no messages.
  if (code !== INVALID_REQUEST || !isArray(written)) return undefined;
  const found = elements(written);
  if (found.length === 0) return fault("a batch is empty");
  if (found.length > MOST_IN_BATCH) return fault(`a batch may have ${MOST_IN_BATCH} messages`);
  return found.map((element) => readMessage(element));
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

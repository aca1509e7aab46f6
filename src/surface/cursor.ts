/** Opaque page cursors with a MAC. A cursor is valid only for the same query and the same content. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../rpc/rpc-error.ts";
import { members } from "../rpc/slice.ts";

// A new key per process: the content that cursors of an earlier process refer to is gone.
const key = randomBytes(32);
const MAC_BYTES = 12;

function seal(position: Buffer, binding: string): Buffer {
  return createHmac("sha256", key)
    .update(position)
    .update("\0")
    .update(binding)
    .digest()
    .subarray(0, MAC_BYTES);
}

/**
 * `binding` contains everything that must be the same when the cursor is used: query, filters, caller, content version.
 */
export function writeCursor(offset: number, binding: string): string {
  const position = Buffer.alloc(4);
  position.writeUInt32BE(offset);
  return Buffer.concat([seal(position, binding), position]).toString("base64url");
}

/** Returns the offset in a cursor without checking it. Must not decide what a client may see. */
export function claimedOffset(cursor: string | undefined): number {
  const bytes = Buffer.from(cursor ?? "", "base64url");
  return bytes.length === MAC_BYTES + 4 ? bytes.readUInt32BE(MAC_BYTES) : 0;
}

/**
 * Returns the offset, 0 without a cursor. Throws an invalid params error for a foreign, expired or malformed cursor.
 */
export function readCursor(cursor: string | undefined, binding: string): number {
  if (cursor === undefined) return 0;
  const bytes = Buffer.from(cursor, "base64url");
  const position = bytes.subarray(MAC_BYTES);
  // Decoding ignores characters that are not base64url, so the text is compared too.
  const wellFormed = position.length === 4 && bytes.toString("base64url") === cursor;
  if (wellFormed && timingSafeEqual(bytes.subarray(0, MAC_BYTES), seal(position, binding)))
    return position.readUInt32BE();
  throw RpcError.of(INVALID_PARAMS, "This cursor is invalid or expired: ask again without it");
}

/** For a list that has only one page. Throws an invalid params error for any cursor. */
export function refuseCursor(params: Raw | undefined): void {
  const [cursor] = params ? members(params, ["cursor"]) : [];
  if (cursor && fromRaw(cursor) !== null)
    throw RpcError.of(INVALID_PARAMS, "There is only one page: list without a cursor");
}

/** Opaque page marks: tamper-evident, bound to what was asked and to the content it was asked of. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { INVALID_PARAMS, RpcError } from "../rpc/rpc-error.ts";

// A cursor of an earlier process is refused: what it pointed into is gone.
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

/** `binding` says everything that must be the same when the cursor comes back: query, filters, caller, content version. */
export function writeCursor(offset: number, binding: string): string {
  const position = Buffer.alloc(4);
  position.writeUInt32BE(offset);
  return Buffer.concat([seal(position, binding), position]).toString("base64url");
}

/** Where a cursor claims to stand; nothing is checked, so nothing may be given for it. */
export function claimedOffset(cursor: string | undefined): number {
  const bytes = Buffer.from(cursor ?? "", "base64url");
  return bytes.length === MAC_BYTES + 4 ? bytes.readUInt32BE(MAC_BYTES) : 0;
}

/** The offset, 0 without a cursor. A foreign, stale or garbled one is a JSON-RPC invalid params error. */
export function readCursor(cursor: string | undefined, binding: string): number {
  if (cursor === undefined) return 0;
  const bytes = Buffer.from(cursor, "base64url");
  const position = bytes.subarray(MAC_BYTES);
  // Decoding overlooks what does not belong in base64url.
  const wellFormed = position.length === 4 && bytes.toString("base64url") === cursor;
  if (wellFormed && timingSafeEqual(bytes.subarray(0, MAC_BYTES), seal(position, binding)))
    return position.readUInt32BE();
  throw RpcError.of(INVALID_PARAMS, "This cursor is invalid or expired: ask again without it");
}

/**
 * Opaque page cursors with a MAC. A cursor is valid only for the same query and the same content, at every
 * process with the same secret.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type Raw, scalarOf } from "../kernel/raw.ts";
import { derivedKey, type KeySource } from "../kernel/seal.ts";
import { INVALID_PARAMS, RpcError } from "../rpc/rpc-error.ts";
import { members } from "../rpc/slice.ts";

const MAC_BYTES = 12;

export class Cursors {
  readonly #key: () => Buffer;

  constructor(source: KeySource) {
    this.#key = derivedKey(source, "cursors");
  }

  /**
   * `binding` contains everything that must be the same when the cursor is used: query, filters, owner,
   * content. Nothing in it may be known to one process only, such as a counter.
   */
  write(offset: number, binding: string): string {
    const position = Buffer.alloc(4);
    position.writeUInt32BE(offset);
    return Buffer.concat([this.#seal(position, binding), position]).toString("base64url");
  }

  /**
   * Returns the offset, 0 without a cursor. Throws an invalid params error for a foreign, expired or
   * malformed cursor.
   */
  read(cursor: string | undefined, binding: string): number {
    if (cursor === undefined) return 0;
    const bytes = Buffer.from(cursor, "base64url");
    const position = bytes.subarray(MAC_BYTES);
    // Decoding ignores characters that are not base64url, so the text is compared too.
    const wellFormed = position.length === 4 && bytes.toString("base64url") === cursor;
    if (wellFormed && timingSafeEqual(bytes.subarray(0, MAC_BYTES), this.#seal(position, binding)))
      return position.readUInt32BE();
    throw RpcError.of(INVALID_PARAMS, "This cursor is invalid or expired: ask again without it");
  }

  #seal(position: Buffer, binding: string): Buffer {
    return createHmac("sha256", this.#key())
      .update(position)
      .update("\0")
      .update(binding)
      .digest()
      .subarray(0, MAC_BYTES);
  }
}

/** Returns the offset in a cursor without checking it. Must not decide what a client may see. */
export function claimedOffset(cursor: string | undefined): number {
  const bytes = Buffer.from(cursor ?? "", "base64url");
  return bytes.length === MAC_BYTES + 4 ? bytes.readUInt32BE(MAC_BYTES) : 0;
}

/** For a list that has only one page. Throws an invalid params error for any cursor. */
export function refuseCursor(params: Raw | undefined): void {
  const [cursor] = params ? members(params, ["cursor"]) : [];
  if (cursor && scalarOf(cursor) !== null)
    throw RpcError.of(INVALID_PARAMS, "There is only one page: list without a cursor");
}

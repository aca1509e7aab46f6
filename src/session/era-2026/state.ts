/**
 * The `requestState` that a client sends back: names a parked call and is valid for one caller and one request only.
 * Reveals nothing.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { hasManyValues } from "../../rpc/many-values.ts";
import { withMember } from "../../rpc/slice.ts";

const ID_BYTES = 16;
const SEAL_BYTES = 16;

/** Returns a hash of what must be the same in the retry: caller, method and params. */
export function bindingOf(caller: string, method: string, bare: Raw): string {
  // `_meta` differs between attempts: each has its own progress token and trace.
  const params = withMember(bare, "_meta", undefined);
  const same = hasManyValues(params) ? params.toString() : sorted(fromRaw(params));
  return createHash("sha256")
    .update(JSON.stringify([caller, method, same]))
    .digest("base64");
}

/** Sorts keys, so that a retry may write the same params in another order. Very large params are compared as text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sorted(inner)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export class StateSeal {
  // A new key per process: calls parked by an earlier process are gone, so their states must be invalid.
  readonly #key = randomBytes(32);

  /** Returns an unguessable id and the state that names it. */
  make(binding: string): { id: string; state: string } {
    const id = randomBytes(ID_BYTES);
    const state = Buffer.concat([id, this.#seal(id, binding)]).toString("base64url");
    return { id: id.toString("hex"), state };
  }

  /** Returns the id, or undefined if the state is forged or belongs to another caller or request. */
  open(state: string, binding: string): string | undefined {
    const bytes = Buffer.from(state, "base64url");
    if (bytes.length !== ID_BYTES + SEAL_BYTES || bytes.toString("base64url") !== state) return undefined;
    const id = bytes.subarray(0, ID_BYTES);
    return timingSafeEqual(bytes.subarray(ID_BYTES), this.#seal(id, binding))
      ? id.toString("hex")
      : undefined;
  }

  #seal(id: Buffer, binding: string): Buffer {
    return createHmac("sha256", this.#key).update(id).update(binding).digest().subarray(0, SEAL_BYTES);
  }
}

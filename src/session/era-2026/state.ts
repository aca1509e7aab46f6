/** The `requestState` a client hands back: names what is parked, sealed for one caller and one request. Says nothing to anyone else. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { hasManyValues } from "../../rpc/many-values.ts";
import { withMember } from "../../rpc/slice.ts";

const ID_BYTES = 16;
const SEAL_BYTES = 16;

/** What must be the same when it comes back, as one text. */
export function bindingOf(caller: string, method: string, bare: Raw): string {
  // Each attempt has its own token and trace.
  const params = withMember(bare, "_meta", undefined);
  const same = hasManyValues(params) ? params.toString() : sorted(fromRaw(params));
  return createHash("sha256")
    .update(JSON.stringify([caller, method, same]))
    .digest("base64");
}

/** A client that writes the same params in another order means the same request, unless they take long to read. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sorted(inner)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export class StateSeal {
  // State of an earlier process is refused: what it named is gone.
  readonly #key = randomBytes(32);

  /** An id nobody can guess, and the state that names it. */
  make(binding: string): { id: string; state: string } {
    const id = randomBytes(ID_BYTES);
    const state = Buffer.concat([id, this.#seal(id, binding)]).toString("base64url");
    return { id: id.toString("hex"), state };
  }

  /** The id; undefined for a state that is not ours, or was given to someone else or for another request. */
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

/**
 * Refuses a request whose name, URI or cursor has the size of a document. Names are looked up, compared,
 * recorded and quoted in errors, each time as a whole.
 */
import { LARGE_BYTES } from "../kernel/own-turn.ts";
import type { Raw } from "../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../rpc/rpc-error.ts";
import { eachMember, textAt } from "../rpc/slice.ts";

/** In bytes of JSON. */
export const LONGEST_NAME = LARGE_BYTES;

const NAMES: ReadonlySet<string> = new Set(["name", "uri", "ref", "cursor", "level", "taskId"]);

export function refuseLongNames(params: Raw | undefined): void {
  if (!params || params.length <= LONGEST_NAME) return;
  eachMember(params, (key, value, end) => {
    if (end - value <= LONGEST_NAME) return;
    const name = textAt(params, key);
    if (NAMES.has(name))
      throw RpcError.of(INVALID_PARAMS, `${name} is too long: it may have at most ${LONGEST_NAME} bytes`);
  });
}

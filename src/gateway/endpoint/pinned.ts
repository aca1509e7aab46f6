/** The pinned tools of an endpoint. */
import { readToolId, type ToolId } from "../../kernel/tool-id.ts";
import type { StoredObject } from "../objects.ts";

const NONE: readonly ToolId[] = [];
const known = new WeakMap<StoredObject<"endpoint">, readonly ToolId[]>();

/** The same array until the endpoint changes. */
export function pinnedOf(endpoint: StoredObject<"endpoint">): readonly ToolId[] {
  const { pinned } = endpoint.spec;
  if (!pinned?.length) return NONE;
  let ids = known.get(endpoint);
  if (!ids) {
    ids = pinned.flatMap((id) => readToolId(id) ?? []);
    known.set(endpoint, ids);
  }
  return ids;
}

/** Tags of a tool: its annotations, and tags that its server put into `_meta`. */
import type { Tool } from "../../catalog/tool.ts";
import { fromRaw } from "../../kernel/raw.ts";
import { member } from "../../rpc/slice.ts";

const MAX_TAGS = 8;
const LONGEST_TAG = 40;

export function tagsOf({ annotations, definition }: Tool): readonly string[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const declared = [
    ...(readOnlyHint === true ? ["read-only"] : []),
    ...(destructiveHint === true && readOnlyHint !== true ? ["destructive"] : []),
    ...(idempotentHint === true ? ["idempotent"] : []),
    ...(openWorldHint === true ? ["open-world"] : []),
  ];
  const meta = member(definition, "_meta");
  return [...new Set([...declared, ...(meta ? taggedIn(fromRaw(meta)) : [])])].slice(0, MAX_TAGS);
}

/** Frameworks keep tags in `_meta`, directly or one level below. */
function taggedIn(meta: unknown): readonly string[] {
  if (typeof meta !== "object" || meta === null) return [];
  return [meta, ...Object.values(meta)].flatMap((place: unknown) => {
    const tags = typeof place === "object" && place !== null && "tags" in place ? place.tags : undefined;
    return Array.isArray(tags)
      ? tags.filter((tag) => typeof tag === "string" && tag.length <= LONGEST_TAG)
      : [];
  });
}

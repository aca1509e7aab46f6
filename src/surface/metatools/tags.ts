/** Words a tool can be told apart by: what it declares about its effects, and what its server tagged it with. */
import type { Tool } from "../../catalog/tool.ts";
import { fromRaw } from "../../kernel/raw.ts";
import { member } from "../../rpc/slice.ts";

const MOST = 8;
const LONGEST = 40;

export function tagsOf({ annotations, definition }: Tool): readonly string[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const declared = [
    ...(readOnlyHint === true ? ["read-only"] : []),
    ...(destructiveHint === true && readOnlyHint !== true ? ["destructive"] : []),
    ...(idempotentHint === true ? ["idempotent"] : []),
    ...(openWorldHint === true ? ["open-world"] : []),
  ];
  const meta = member(definition, "_meta");
  return [...new Set([...declared, ...(meta ? taggedIn(fromRaw(meta)) : [])])].slice(0, MOST);
}

/** Frameworks keep tags in `_meta`, directly or below a name of their own. */
function taggedIn(meta: unknown): readonly string[] {
  if (typeof meta !== "object" || meta === null) return [];
  return [meta, ...Object.values(meta)].flatMap((place: unknown) => {
    const tags = typeof place === "object" && place !== null && "tags" in place ? place.tags : undefined;
    return Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string" && tag.length <= LONGEST) : [];
  });
}

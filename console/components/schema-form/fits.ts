/** Decides whether a field can show a draft, and which variant of a union a draft matches. */
import { type Draft, isList, isMap, JsonText, NumberText, writeDraft } from "./draft.ts";
import { type FormNode, nodeOf, type Variant } from "./form-node.ts";

export function fits(node: FormNode, draft: Draft): boolean {
  if (draft === undefined) return true;
  if (draft === null)
    return node.nullable || node.kind === "null" || node.kind === "any" || isChoice(node, draft);
  switch (node.kind) {
    case "object":
      return isMap(draft);
    case "array":
      return isList(draft);
    case "text":
    case "file":
      return typeof draft === "string";
    case "number":
      return draft instanceof NumberText;
    case "boolean":
      return typeof draft === "boolean";
    case "choice":
    case "const":
      return isChoice(node, draft);
    case "null":
      return false;
    case "union":
    case "any":
      return true;
  }
}

/**
 * Returns the index of the variant whose constants and required members the draft has; `picked` if no other
 * matches better.
 */
export function variantOf(
  variants: readonly Variant[],
  draft: Draft,
  { root, picked = 0 }: { readonly root: unknown; readonly picked?: number | undefined },
): number {
  const points = variants.map(({ schema }) => score(nodeOf(schema, root), draft, root));
  const best = Math.max(...points);
  return points[picked] === best ? picked : points.indexOf(best);
}

function score(node: FormNode, draft: Draft, root: unknown): number {
  if (draft === undefined || draft instanceof JsonText || !fits(node, draft)) return 0;
  if (node.kind === "any") return 1;
  if (node.kind !== "object" || !isMap(draft)) return 2;
  let points = 2;
  for (const { name, schema, required } of node.members) {
    const value = draft.get(name);
    const member = nodeOf(schema, root);
    if (value === undefined) points -= required ? 1 : 0;
    else if (!fits(member, value)) points -= 2;
    else points += member.kind === "const" || member.kind === "choice" ? 4 : 1;
  }
  return Math.max(points, 0.5);
}

function isChoice(node: FormNode, draft: Draft): boolean {
  const json = writeDraft(draft);
  if (node.kind === "const") return JSON.stringify(node.value) === json;
  return node.kind === "choice" && node.choices.some(({ value }) => JSON.stringify(value) === json);
}

/**
 * Creates the initial content of a form: required members whose values the schema knows, and nothing else.
 */
import { type Draft, draftOf } from "./draft.ts";
import { nodeOf } from "./form-node.ts";

/** Deeper objects are added by hand, because a schema may contain itself. */
const MAX_DEPTH = 5;

export function startDraft(schema: unknown, root: unknown = schema, depth = 0): Draft {
  const node = nodeOf(schema, root);
  if (node.defaultValue !== undefined) return draftOf(node.defaultValue);
  switch (node.kind) {
    case "const":
      return draftOf(node.value);
    case "boolean":
      return node.nullable ? undefined : false;
    case "object":
      if (depth > MAX_DEPTH) return undefined;
      return new Map(
        node.members
          .filter(({ required }) => required)
          .map(({ name, schema: member }) => [name, startDraft(member, root, depth + 1)] as const)
          .filter(([, value]) => value !== undefined),
      );
    case "array":
      return node.prefix.map((item) => startDraft(item, root, depth + 1));
    // The form shows the first variant as chosen.
    case "union":
      return depth > MAX_DEPTH ? undefined : startDraft(node.variants[0]?.schema, root, depth + 1);
    case "choice":
    case "text":
    case "file":
    case "number":
    case "null":
    case "any":
      return undefined;
  }
}

/** What stands in a form before anybody wrote in it: what is demanded and known, nothing more. */
import { type Draft, draftOf } from "./draft.ts";
import { nodeOf } from "./form-node.ts";

/** Deeper ones are added by who needs them: a schema may contain itself. */
const DEEPEST = 5;

export function startDraft(schema: unknown, root: unknown = schema, depth = 0): Draft {
  const node = nodeOf(schema, root);
  if (node.standard !== undefined) return draftOf(node.standard);
  switch (node.kind) {
    case "const":
      return draftOf(node.value);
    case "boolean":
      return node.nullable ? undefined : false;
    case "object":
      if (depth > DEEPEST) return undefined;
      return new Map(
        node.members
          .filter(({ required }) => required)
          .map(({ name, schema: member }) => [name, startDraft(member, root, depth + 1)] as const)
          .filter(([, value]) => value !== undefined),
      );
    case "array":
      return node.prefix.map((item) => startDraft(item, root, depth + 1));
    case "union":
    case "choice":
    case "text":
    case "file":
    case "number":
    case "null":
    case "any":
      return undefined;
  }
}

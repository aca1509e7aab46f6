/**
 * Finds obvious problems of a draft: missing values, invalid numbers, lengths. The gateway validates
 * everything; this check only saves a request.
 */
import { componentTexts } from "../../texts/components.ts";
import { type Draft, isList, isMap, JsonText, NumberText } from "./draft.ts";
import { fits, variantOf } from "./fits.ts";
import { type Bounds, type FormNode, type NumberBounds, nodeOf } from "./form-node.ts";

export interface FormProblem {
  /** Starts at the root; empty for the root itself. */
  readonly path: readonly string[];
  readonly text: string;
}

const texts = componentTexts.form.problems;

export function checkDraft(schema: unknown, draft: Draft): readonly FormProblem[] {
  return [...problemsAt(schema, draft, [], schema)];
}

type Path = readonly string[];

function* problemsAt(schema: unknown, draft: Draft, path: Path, root: unknown): Generator<FormProblem, void> {
  if (draft === undefined || draft === null) return;
  if (draft instanceof JsonText) {
    if (draft.text.trim() !== "" && !draft.valid) yield { path, text: texts.json };
    return;
  }
  if (draft instanceof NumberText && !draft.valid) {
    yield { path, text: texts.number };
    return;
  }
  const node = nodeOf(schema, root);
  if (!fits(node, draft)) return;
  if (node.kind === "union")
    yield* problemsAt(node.variants[variantOf(node.variants, draft, { root })]?.schema, draft, path, root);
  else if (node.kind === "object" && isMap(draft)) yield* inMembers(node, draft, path, root);
  else if (node.kind === "array" && isList(draft)) yield* inItems(node, draft, path, root);
  else {
    const text = scalarProblem(node, draft);
    if (text) yield { path, text };
  }
}

type NodeOf<Kind extends FormNode["kind"]> = FormNode & { readonly kind: Kind };

function* inMembers(
  node: NodeOf<"object">,
  draft: ReadonlyMap<string, Draft>,
  path: Path,
  root: unknown,
): Generator<FormProblem, void> {
  const known = new Map(node.members.map((member) => [member.name, member]));
  for (const { name, required } of node.members)
    if (required && isMissing(draft.get(name))) yield { path: [...path, name], text: texts.required };
  for (const [name, value] of draft)
    yield* problemsAt(known.get(name)?.schema ?? node.additional, value, [...path, name], root);
}

function* inItems(
  node: NodeOf<"array">,
  draft: readonly Draft[],
  path: Path,
  root: unknown,
): Generator<FormProblem, void> {
  const { least, most } = node.size;
  if (least !== undefined && draft.length < least) yield { path, text: texts.fewItems(least) };
  if (most !== undefined && draft.length > most) yield { path, text: texts.manyItems(most) };
  for (const [at, item] of draft.entries()) {
    if (isMissing(item)) yield { path: [...path, String(at)], text: texts.required };
    yield* problemsAt(node.prefix[at] ?? node.items, item, [...path, String(at)], root);
  }
}

function isMissing(draft: Draft): boolean {
  return draft === undefined || (draft instanceof JsonText && draft.text.trim() === "");
}

function scalarProblem(node: FormNode, draft: Draft): string | undefined {
  if (node.kind === "number" && draft instanceof NumberText)
    return numberProblem(draft.text, node.whole, node.size);
  if (node.kind === "text" && typeof draft === "string") return textProblem(draft, node.pattern, node.size);
  return undefined;
}

function numberProblem(text: string, whole: boolean, size: NumberBounds): string | undefined {
  const value = Number(text);
  if (whole && !Number.isInteger(value)) return texts.whole;
  if (size.least !== undefined && value < size.least) return texts.least(size.least);
  if (size.most !== undefined && value > size.most) return texts.most(size.most);
  if (size.above !== undefined && value <= size.above) return texts.above(size.above);
  if (size.below !== undefined && value >= size.below) return texts.below(size.below);
  return undefined;
}

function textProblem(text: string, pattern: string | undefined, { least, most }: Bounds): string | undefined {
  // JSON Schema counts code points.
  const { length } = Array.from(text);
  if (least !== undefined && length < least) return texts.short(least);
  if (most !== undefined && length > most) return texts.long(most);
  return pattern !== undefined && matches(pattern, text) === false ? texts.pattern(pattern) : undefined;
}

/**
 * Returns undefined for patterns that may take very long, because an untrusted pattern must not freeze the
 * page.
 */
function matches(pattern: string, text: string): boolean | undefined {
  if (text.length > 500 || pattern.length > 200 || /\)[*+{?]|\\[1-9k]|\(\?[=!<]/.test(pattern))
    return undefined;
  if ((pattern.match(/[*+]|\{\d+,/g)?.length ?? 0) > 2) return undefined;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return undefined;
  }
}

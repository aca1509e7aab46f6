/**
 * Finds the values that references point to. Each list and object on their paths is scanned once, however
 * many references there are, and other values are not parsed.
 */
import { asRaw, type Raw } from "../../kernel/raw.ts";
import { eachElement, eachMember, isObject, textAt } from "../../rpc/slice.ts";

const MAX_NAMED = 10;
const LONGEST_NAME = 80;
/** Limit of scanned bytes, summed over all levels. Scanning this much takes a second or two. */
const MAX_SCANNED_BYTES = 1024 * 1024 * 1024;

export interface Reference {
  /** The reference as written. */
  readonly text: string;
  readonly step: number;
  /** The path below the step's structured value. */
  readonly path: readonly string[];
  /** The position of the reference in the arguments, as a JSON Pointer. */
  readonly at: string;
}

/** An invalid reference. The message is for the author of the chain. */
export class BadReference extends Error {}

/** Returns the structured value of a step. Throws BadReference if it has none. */
export type StepValue = (step: number) => Raw;

/** A node in the tree of the paths of all references to one step. */
interface PathNode {
  /** The first reference through this node. */
  readonly reference: Reference;
  readonly depth: number;
  /** The texts of the references that end here. */
  readonly ends: string[];
  readonly children: Map<string, PathNode>;
}

/** Returns the values by the text of the reference. */
export function valuesOf(references: readonly Reference[], given: StepValue): ReadonlyMap<string, Raw> {
  const search = new ValueSearch();
  for (const [step, root] of pathTrees(references)) search.follow(root, given(step));
  return search.found;
}

function pathTrees(references: readonly Reference[]): ReadonlyMap<number, PathNode> {
  const roots = new Map<number, PathNode>();
  for (const reference of references) {
    let node = childNode(roots, reference.step, reference, 0);
    for (const [at, key] of reference.path.entries()) node = childNode(node.children, key, reference, at + 1);
    node.ends.push(reference.text);
  }
  return roots;
}

function childNode<K>(nodes: Map<K, PathNode>, key: K, reference: Reference, depth: number): PathNode {
  const known = nodes.get(key);
  if (known) return known;
  const node = { reference, depth, ends: [], children: new Map() };
  nodes.set(key, node);
  return node;
}

class ValueSearch {
  readonly found = new Map<string, Raw>();
  #scanned = 0;

  follow(node: PathNode, value: Raw): void {
    for (const text of node.ends) this.found.set(text, value);
    if (node.children.size === 0) return;
    this.#scanned += value.length;
    if (this.#scanned > MAX_SCANNED_BYTES)
      throw new BadReference("its references read too much data: refer to larger parts");
    const parts = partsOf(value, node.children);
    for (const [key, child] of node.children) {
      const part = parts.get(key);
      if (!part) throw missingPath(child, value);
      this.follow(child, part);
    }
  }
}

/** Returns the wanted elements and members. If a name occurs twice, the last member counts. */
function partsOf(value: Raw, wanted: ReadonlyMap<string, unknown>): ReadonlyMap<string, Raw> {
  const found = new Map<string, Raw>();
  const indexes = indexesIn(wanted);
  let index = 0;
  eachElement(value, (from, end) => {
    const key = indexes.get(index++);
    if (key !== undefined) found.set(key, asRaw(value.subarray(from, end)));
  });
  eachMember(value, (name, from, end) => {
    const key = textAt(value, name);
    if (wanted.has(key)) found.set(key, asRaw(value.subarray(from, end)));
  });
  return found;
}

function indexesIn(wanted: ReadonlyMap<string, unknown>): ReadonlyMap<number, string> {
  const keys = [...wanted.keys()].filter((key) => /^(0|[1-9]\d{0,9})$/.test(key));
  return new Map(keys.map((key) => [Number(key), key]));
}

function missingPath({ reference: { text, path }, depth }: PathNode, value: Raw): BadReference {
  const existing = ["structured", ...path.slice(0, depth - 1)].join("/");
  return new BadReference(`${text} does not exist: ${existing} ${description(value)}`);
}

function description(raw: Raw): string {
  let count = 0;
  const named: string[] = [];
  eachElement(raw, () => void count++);
  eachMember(raw, (key) => {
    if (count++ < MAX_NAMED) named.push(shortened(textAt(raw, key)));
  });
  if (raw[0] === 0x5b) return `is a list of ${count}`;
  if (!isObject(raw)) return "is a plain value";
  return count === 0 ? "is an empty object" : `has ${named.join(", ")}${count > MAX_NAMED ? ", …" : ""}`;
}

function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}

/** What references lead to. However many there are, each list and object on their way is gone through once, and nothing is made of what is not wanted. */
import { asRaw, type Raw } from "../../kernel/raw.ts";
import { eachElement, eachMember, isObject, textAt } from "../../rpc/slice.ts";

const MOST_NAMED = 10;
const LONGEST_NAME = 80;
/** Of all that is gone through, level by level: a second or two. */
const MOST_WALKED = 1024 * 1024 * 1024;

export interface Reference {
  /** As it is written. */
  readonly text: string;
  readonly step: number;
  /** Below the step's structured value. */
  readonly path: readonly string[];
  /** Where it stands in the arguments, as a JSON Pointer. */
  readonly at: string;
}

/** What is wrong with a reference, for who wrote it. */
export class BadReference extends Error {}

/** The structured value of a step; throws BadReference where there is none. */
export type StepValue = (step: number) => Raw;

/** Where several references lead to or through. */
interface Branch {
  /** The first of them. */
  readonly reference: Reference;
  readonly depth: number;
  readonly ends: string[];
  readonly ways: Map<string, Branch>;
}

/** By the text of the reference. */
export function valuesOf(references: readonly Reference[], given: StepValue): ReadonlyMap<string, Raw> {
  const search = new Search();
  for (const [step, branch] of branchesOf(references)) search.follow(branch, given(step));
  return search.found;
}

function branchesOf(references: readonly Reference[]): ReadonlyMap<number, Branch> {
  const roots = new Map<number, Branch>();
  for (const reference of references) {
    let branch = next(roots, reference.step, reference, 0);
    for (const [at, key] of reference.path.entries()) branch = next(branch.ways, key, reference, at + 1);
    branch.ends.push(reference.text);
  }
  return roots;
}

function next<K>(ways: Map<K, Branch>, key: K, reference: Reference, depth: number): Branch {
  const known = ways.get(key);
  if (known) return known;
  const branch = { reference, depth, ends: [], ways: new Map() };
  ways.set(key, branch);
  return branch;
}

class Search {
  readonly found = new Map<string, Raw>();
  #walked = 0;

  follow(branch: Branch, value: Raw): void {
    for (const text of branch.ends) this.found.set(text, value);
    if (branch.ways.size === 0) return;
    this.#walked += value.length;
    if (this.#walked > MOST_WALKED)
      throw new BadReference("its references read too much data: refer to larger parts");
    const parts = partsOf(value, branch.ways);
    for (const [key, way] of branch.ways) {
      const part = parts.get(key);
      if (!part) throw nowhere(way, value);
      this.follow(way, part);
    }
  }
}

/** The wanted ones; of members with one name the last. */
function partsOf(value: Raw, wanted: ReadonlyMap<string, unknown>): ReadonlyMap<string, Raw> {
  const found = new Map<string, Raw>();
  const places = indexesIn(wanted);
  let index = 0;
  eachElement(value, (from, end) => {
    const key = places.get(index++);
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

function nowhere({ reference: { text, path }, depth }: Branch, value: Raw): BadReference {
  const way = ["structured", ...path.slice(0, depth - 1)].join("/");
  return new BadReference(`${text} does not exist: ${way} ${holdingOf(value)}`);
}

function holdingOf(raw: Raw): string {
  let count = 0;
  const named: string[] = [];
  eachElement(raw, () => void count++);
  eachMember(raw, (key) => {
    if (count++ < MOST_NAMED) named.push(shortened(textAt(raw, key)));
  });
  if (raw[0] === 0x5b) return `is a list of ${count}`;
  if (!isObject(raw)) return "is a plain value";
  return count === 0 ? "is an empty object" : `has ${named.join(", ")}${count > MOST_NAMED ? ", …" : ""}`;
}

function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}

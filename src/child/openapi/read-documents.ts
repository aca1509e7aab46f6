/** Reads a document and all those that it refers to, through a function that decides what may be read. */
import { addressOf, DocumentFault, splitReference } from "./documents.ts";
import { parseText } from "./parse.ts";

/** Resolves with the text, or rejects with the reason why it may not or cannot be read. */
export type Load = (uri: string) => Promise<string>;

export interface ReadDocuments {
  /** The root first. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Why others could not be read. */
  readonly refused: ReadonlyMap<string, string>;
}

const MAX_DOCUMENTS = 200;
const MAX_LENGTH = 64 * 1024 * 1024;
/** Their content is data. */
const DATA: ReadonlySet<string> = new Set(["example", "examples", "default", "enum", "const"]);

export async function readDocuments(root: string, load: Load): Promise<ReadDocuments> {
  const values = new Map<string, unknown>();
  const refused = new Map<string, string>();
  const asked = new Set([root]);
  let length = 0;
  for (const uri of asked) {
    let text: string;
    try {
      if (asked.size > MAX_DOCUMENTS) throw new Error(`it refers to more than ${MAX_DOCUMENTS} documents`);
      text = await load(uri);
    } catch (error) {
      if (uri === root) throw error;
      refused.set(uri, (error as Error).message);
      continue;
    }
    length += text.length;
    if (length > MAX_LENGTH)
      throw new DocumentFault(`with all its parts it has more than ${MAX_LENGTH} characters`, {
        uri,
        pointer: "",
      });
    const value = parseText(text, uri);
    values.set(uri, value);
    for (const other of addressesIn(value, uri)) asked.add(other);
  }
  return { values, refused };
}

/** The other documents that a document refers to. Not recursive: a document may be nested very deep. */
function addressesIn(document: unknown, uri: string): ReadonlySet<string> {
  const found = new Set<string>();
  // YAML can contain the same object in several places.
  const seen = new Set<object>();
  const open: unknown[] = [document];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    if (Array.isArray(value)) {
      for (const one of value) open.push(one);
      continue;
    }
    for (const [key, one] of Object.entries(value)) {
      if (DATA.has(key) && !isNamed(value, key)) continue;
      if (key !== "$ref" || typeof one !== "string") open.push(one);
      else if (!one.startsWith("#")) {
        const address = addressOf(splitReference(one)[0], uri);
        if (address !== undefined) found.add(address);
      }
    }
  }
  return found;
}

/** A property that is called "example" or "default" is a schema. */
function isNamed(value: object, key: string): boolean {
  const one = (value as Readonly<Record<string, unknown>>)[key];
  return typeof one === "object" && one !== null && "$ref" in one;
}

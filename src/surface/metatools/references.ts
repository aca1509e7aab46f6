/**
 * References in the arguments of a chain to values of earlier steps: `{"$from":
 * "steps/0/structured/items/1/id"}`. Values and the rest of the arguments are copied byte for byte.
 */
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { eachElement, eachMember, isKey, isObject, textAt } from "../../rpc/slice.ts";
import { BadReference, type Reference, type StepValue, valuesOf } from "./reference-values.ts";

const KEY = "$from";
const PLAIN_KEY = Buffer.from(KEY);
/** The key can also be written with escapes, which contain this. */
const ESCAPE = Buffer.from("\\u");
const QUOTE = 0x22;
const NULL = toRaw(null);
/** Limited, because each reference may lead through a large value. */
const MAX_REFERENCES = 256;
/** Limit of all inserted values: the largest size of a message. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Throws BadReference for a reference of the wrong form. */
export function referencesIn(args: Raw): readonly Reference[] {
  const found: Reference[] = [];
  replaceReferences(args, "", (text, at) => {
    if (found.push(read(text, at)) > MAX_REFERENCES)
      throw new BadReference(`there are more than ${MAX_REFERENCES} references in its arguments`);
    return NULL;
  });
  return found;
}

/** Replaces all references in the arguments by their values. */
export function resolved(args: Raw, references: readonly Reference[], given: StepValue): Raw {
  if (references.length === 0) return args;
  const values = valuesOf(references, given);
  let bytes = 0;
  for (const { text } of references) bytes += values.get(text)?.length ?? 0;
  if (bytes > MAX_BYTES)
    throw new BadReference(
      `the values of its references have more than ${MAX_BYTES / 1024 / 1024} MB in total`,
    );
  const made = replaceReferences(args, "", (text) => values.get(text) ?? NULL);
  if (isObject(made)) return made;
  throw new BadReference("its arguments are one reference, and its value is not an object");
}

/** Replaces all references by null, for a schema check that ignores these positions. */
export function withoutReferences(args: Raw): Raw {
  return replaceReferences(args, "", () => NULL);
}

type Replace = (text: string, at: string) => Raw;

/** Scans only parts that may contain a reference; all others are kept as they are. */
function replaceReferences(raw: Raw, at: string, replace: Replace): Raw {
  const candidates = new KeyFinder(raw);
  if (candidates.after(0) === Number.POSITIVE_INFINITY) return raw;
  const text = referenceIn(raw);
  if (text !== undefined) return replace(text, at);
  const parts: Buffer[] = [];
  let copied = 0;
  const enter = (key: string, from: number, end: number): void => {
    const part = asRaw(raw.subarray(from, end));
    const made = replaceReferences(part, `${at}/${key}`, replace);
    if (made === part) return;
    parts.push(raw.subarray(copied, from), made);
    copied = end;
  };
  let index = 0;
  eachElement(raw, (from, end) => {
    if (candidates.after(from) < end) enter(String(index), from, end);
    index++;
  });
  eachMember(raw, (key, from, end) => {
    if (candidates.after(from) < end) enter(escaped(textAt(raw, key)), from, end);
  });
  return parts.length === 0 ? raw : asRaw(Buffer.concat([...parts, raw.subarray(copied)]));
}

/**
 * Finds positions where the key of a reference may be. Must be called with increasing positions, so that each
 * byte is searched once.
 */
class KeyFinder {
  readonly #raw: Raw;
  #plain = -1;
  #escape = -1;

  constructor(raw: Raw) {
    this.#raw = raw;
  }

  after(from: number): number {
    if (this.#plain < from) this.#plain = this.#find(PLAIN_KEY, from);
    if (this.#escape < from) this.#escape = this.#find(ESCAPE, from);
    return Math.min(this.#plain, this.#escape);
  }

  #find(bytes: Buffer, from: number): number {
    const at = this.#raw.indexOf(bytes, from);
    return at < 0 ? Number.POSITIVE_INFINITY : at;
  }
}

/** Returns the text of the reference if the object has only the key `$from` with a string. */
function referenceIn(raw: Raw): string | undefined {
  let count = 0;
  let text: string | undefined;
  eachMember(raw, (key, value) => {
    count++;
    text = isKey(raw, key, KEY) && raw[value] === QUOTE ? textAt(raw, value) : undefined;
  });
  return count === 1 ? text : undefined;
}

function read(text: string, at: string): Reference {
  const [root, step = "", value, ...path] = text.replace(/^#?\//, "").split("/");
  if (root !== "steps" || !/^(0|[1-9]\d{0,3})$/.test(step) || value !== "structured")
    throw new BadReference(
      `${JSON.stringify({ [KEY]: text })} is not a reference: write "steps/0/structured" and the path into the value, such as "steps/0/structured/items/1/id"`,
    );
  if (/~(?![01])/.test(text))
    throw new BadReference(
      `${JSON.stringify({ [KEY]: text })} is not a reference: write ~ as ~0, and / in a name as ~1`,
    );
  return {
    text,
    at,
    step: Number(step),
    path: path.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~")),
  };
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** References of a chain's arguments to what earlier steps gave: `{"$from": "steps/0/structured/items/1/id"}`. Values pass as they were written, and so does all around them. */
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { eachElement, eachMember, isKey, isObject, textAt } from "../../rpc/slice.ts";
import { BadReference, type Reference, type StepValue, valuesOf } from "./reference-values.ts";

const KEY = "$from";
const WRITTEN = Buffer.from(KEY);
/** A key can be written otherwise only like this. */
const ESCAPE = Buffer.from("\\u");
const QUOTE = 0x22;
const NULL = toRaw(null);
/** Each may lead through all of a large value. */
const MOST_REFERENCES = 256;
/** Of what references put into the arguments: as large as a message may be. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Throws BadReference for one that cannot mean anything. */
export function referencesIn(args: Raw): readonly Reference[] {
  const found: Reference[] = [];
  walk(args, "", (text, at) => {
    if (found.push(read(text, at)) > MOST_REFERENCES)
      throw new BadReference(`there are more than ${MOST_REFERENCES} references in its arguments`);
    return NULL;
  });
  return found;
}

/** The arguments with each of their references replaced. */
export function resolved(args: Raw, references: readonly Reference[], given: StepValue): Raw {
  if (references.length === 0) return args;
  const values = valuesOf(references, given);
  let bytes = 0;
  for (const { text } of references) bytes += values.get(text)?.length ?? 0;
  if (bytes > MOST_BYTES)
    throw new BadReference(
      `the values of its references have more than ${MOST_BYTES / 1024 / 1024} MB in total`,
    );
  const made = walk(args, "", (text) => values.get(text) ?? NULL);
  if (isObject(made)) return made;
  throw new BadReference("its arguments are one reference, and its value is not an object");
}

/** With something of no type where a reference stands: for checks that know what to overlook. */
export function withoutReferences(args: Raw): Raw {
  return walk(args, "", () => NULL);
}

type Replace = (text: string, at: string) => Raw;

/** Only parts in which a reference may stand are looked into; all others stay where they are. */
function walk(raw: Raw, at: string, replace: Replace): Raw {
  const marks = new Marks(raw);
  if (marks.after(0) === Number.POSITIVE_INFINITY) return raw;
  const text = referenceIn(raw);
  if (text !== undefined) return replace(text, at);
  const parts: Buffer[] = [];
  let copied = 0;
  const enter = (place: string, from: number, end: number): void => {
    const part = asRaw(raw.subarray(from, end));
    const made = walk(part, `${at}/${place}`, replace);
    if (made === part) return;
    parts.push(raw.subarray(copied, from), made);
    copied = end;
  };
  let index = 0;
  eachElement(raw, (from, end) => {
    if (marks.after(from) < end) enter(String(index), from, end);
    index++;
  });
  eachMember(raw, (key, from, end) => {
    if (marks.after(from) < end) enter(escaped(textAt(raw, key)), from, end);
  });
  return parts.length === 0 ? raw : asRaw(Buffer.concat([...parts, raw.subarray(copied)]));
}

/** Where a reference may stand. Asked from front to back, so that every byte is looked at once. */
class Marks {
  readonly #raw: Raw;
  #written = -1;
  #escape = -1;

  constructor(raw: Raw) {
    this.#raw = raw;
  }

  after(from: number): number {
    if (this.#written < from) this.#written = this.#find(WRITTEN, from);
    if (this.#escape < from) this.#escape = this.#find(ESCAPE, from);
    return Math.min(this.#written, this.#escape);
  }

  #find(mark: Buffer, from: number): number {
    const at = this.#raw.indexOf(mark, from);
    return at < 0 ? Number.POSITIVE_INFINITY : at;
  }
}

/** What an object refers to that holds nothing else. */
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

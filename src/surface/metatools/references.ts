/** References of a chain's arguments to what earlier steps gave: `{"$from": "steps/0/structured/items/1/id"}`. Values pass as they were written. */
import { joinArray } from "../../catalog/json-array.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { elements, entries, isObject, joinObject, members, textAt } from "../../rpc/slice.ts";

const KEY = "$from";
const WRITTEN = Buffer.from(KEY);
/** A key can be written otherwise only like this. */
const ESCAPE = Buffer.from("\\u");
const MOST_NAMED = 10;
/** Each may lead through all of a large value. */
const MOST_REFERENCES = 256;
/** Of what references put into the arguments: as large as a message may be. */
const MOST_BYTES = 64 * 1024 * 1024;

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

/** Throws BadReference for one that cannot mean anything. */
export function referencesIn(args: Raw): readonly Reference[] {
  const found: Reference[] = [];
  walk(args, "", (text, at) => {
    if (found.push(read(text, at)) > MOST_REFERENCES)
      throw new BadReference(`there are more than ${MOST_REFERENCES} references in its arguments`);
    return args;
  });
  return found;
}

/** The arguments with each reference replaced. `given` is the structured value of a step. */
export function resolved(args: Raw, given: (step: number) => Raw): Raw {
  let bytes = 0;
  return walk(args, "", (text, at) => {
    const reference = read(text, at);
    const value = lookUp(given(reference.step), reference);
    bytes += value.length;
    if (bytes > MOST_BYTES)
      throw new BadReference(
        `what its references lead to is more than ${MOST_BYTES / 1024 / 1024} MB in all`,
      );
    return value;
  });
}

type Replace = (text: string, at: string) => Raw;

function walk(raw: Raw, at: string, replace: Replace): Raw {
  if (!raw.includes(WRITTEN) && !raw.includes(ESCAPE)) return raw;
  if (isObject(raw)) {
    const fields = entries(raw);
    const [only] = fields;
    if (fields.length === 1 && only?.[0] === KEY && only[1][0] === 0x22)
      return replace(textAt(only[1], 0), at);
    return joinObject(fields.map(([key, value]) => [key, walk(value, `${at}/${escaped(key)}`, replace)]));
  }
  if (raw[0] !== 0x5b) return raw;
  return joinArray(elements(raw).map((value, index) => walk(value, `${at}/${index}`, replace)));
}

function read(text: string, at: string): Reference {
  const [root, step = "", value, ...path] = text.replace(/^#?\//, "").split("/");
  if (root !== "steps" || !/^(0|[1-9]\d{0,3})$/.test(step) || value !== "structured")
    throw new BadReference(
      `${JSON.stringify({ [KEY]: text })} is no reference: write "steps/0/structured", and after it the way into the value, as in "steps/0/structured/items/1/id"`,
    );
  if (/~(?![01])/.test(text))
    throw new BadReference(
      `${JSON.stringify({ [KEY]: text })} is no reference: write ~ as ~0, and / in a name as ~1`,
    );
  return {
    text,
    at,
    step: Number(step),
    path: path.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~")),
  };
}

function lookUp(value: Raw, { path, text }: Reference): Raw {
  let at = value;
  for (const [depth, key] of path.entries()) {
    const next = at[0] === 0x5b ? elementOf(at, key) : isObject(at) ? lastOf(at, key) : undefined;
    if (!next)
      throw new BadReference(
        `${text} leads nowhere: ${["structured", ...path.slice(0, depth)].join("/")} ${holdingOf(at)}`,
      );
    at = next;
  }
  return at;
}

function lastOf(object: Raw, key: string): Raw | undefined {
  return members(object, [key])[0];
}

function elementOf(array: Raw, key: string): Raw | undefined {
  return /^(0|[1-9]\d{0,9})$/.test(key) ? elements(array)[Number(key)] : undefined;
}

function holdingOf(raw: Raw): string {
  if (raw[0] === 0x5b) return `is a list of ${elements(raw).length}`;
  if (!isObject(raw)) return "is a plain value";
  const keys = entries(raw).map(([key]) => key);
  const more = keys.length > MOST_NAMED ? ", …" : "";
  return keys.length === 0 ? "is an empty object" : `has ${keys.slice(0, MOST_NAMED).join(", ")}${more}`;
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** With something of no type where a reference stands: for checks that know what to overlook. */
export function withoutReferences(args: Raw): Raw {
  return walk(args, "", () => toRaw(null));
}

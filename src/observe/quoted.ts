/** Texts as JSON. Records repeat a few names without end, so each is written once. */
const MOST_KNOWN = 2_000;
const LONGEST_KNOWN = 128;
const known = new Map<string, string>();

export function quoted(text: string): string {
  const before = known.get(text);
  if (before !== undefined) return before;
  const written = JSON.stringify(text);
  if (text.length <= LONGEST_KNOWN) {
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(text, written);
  }
  return written;
}

const texts = new WeakMap<object, string>();

/** The same of an object that never changes and stands in many records. */
export function quotedObject(object: object): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
}

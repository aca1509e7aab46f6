/** Problems as the gateway words them, at the places of the form that they are about. */
import type { FormProblem } from "./check-draft.ts";

const WHOLE = "the arguments ";

/** `repo.0 must be string`, `the arguments must have required property 'owner'`. */
export function problemOf(words: string): FormProblem {
  const about = words.startsWith(WHOLE) ? "" : (/^(\S+) must /.exec(words)?.[1] ?? "");
  const text = words.startsWith(WHOLE)
    ? words.slice(WHOLE.length)
    : words.slice(about ? about.length + 1 : 0);
  const path = about === "" ? [] : about.split(".").map(unescaped);
  const missing = /^must have required property '(.*)'$/.exec(text)?.[1];
  return { path: missing === undefined ? path : [...path, missing], text: sentence(text) };
}

function unescaped(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

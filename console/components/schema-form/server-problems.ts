/** Converts problem texts of the gateway to problems with a path in the form. */
import type { FormProblem } from "./check-draft.ts";

const ROOT_PREFIX = "the arguments ";

/** `repo.0 must be string`, `the arguments must have required property 'owner'`. */
export function problemOf(message: string): FormProblem {
  const about = message.startsWith(ROOT_PREFIX) ? "" : (/^(\S+) must /.exec(message)?.[1] ?? "");
  const text = message.startsWith(ROOT_PREFIX)
    ? message.slice(ROOT_PREFIX.length)
    : message.slice(about ? about.length + 1 : 0);
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

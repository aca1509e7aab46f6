/** Tells whether JSON text contains a secret. Reads both values of duplicate keys, because both would be stored. */
import { isSecretName, isSecretText } from "../kernel/looks-secret.ts";
import type { Raw } from "../kernel/raw.ts";
import { elements, entries, isObject, isString, textAt } from "../rpc/slice.ts";
import { isArray } from "./json-array.ts";

/** `secrets`: known secret values, in addition to what looks like one. */
export function containsSecret(raw: Raw, secrets: readonly string[]): boolean {
  const containsKnown = (text: string): boolean => secrets.some((secret) => text.includes(secret));
  const isSecret = (part: Raw): boolean => {
    if (isArray(part)) return elements(part).some(isSecret);
    if (isObject(part))
      return entries(part).some(
        ([name, value]) => isSecretName(name) || isSecretText(name) || containsKnown(name) || isSecret(value),
      );
    if (!isString(part)) return containsKnown(part.toString());
    const text = textAt(part, 0);
    return isSecretText(text) || containsKnown(text);
  };
  // A secret may span several values, so the raw text is checked too.
  return containsKnown(raw.toString()) || isSecret(raw);
}

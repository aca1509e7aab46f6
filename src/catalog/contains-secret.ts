/** Whether JSON text contains a secret. Of duplicate keys both values are read, because both would be stored. */
import { isSecretName, isSecretText } from "../kernel/looks-secret.ts";
import type { Raw } from "../kernel/raw.ts";
import { elements, entries, isObject, isString, textAt } from "../rpc/slice.ts";
import { isArray } from "./json-array.ts";

/** `secrets`: values that are some, whatever they look like. */
export function containsSecret(raw: Raw, secrets: readonly string[]): boolean {
  const holds = (text: string): boolean => secrets.some((secret) => text.includes(secret));
  const tells = (part: Raw): boolean => {
    if (isArray(part)) return elements(part).some(tells);
    if (isObject(part))
      return entries(part).some(
        ([name, value]) => isSecretName(name) || isSecretText(name) || holds(name) || tells(value),
      );
    if (!isString(part)) return holds(part.toString());
    const text = textAt(part, 0);
    return isSecretText(text) || holds(text);
  };
  // A secret may go over several values: as it is written it must not be there either.
  return holds(raw.toString()) || tells(raw);
}

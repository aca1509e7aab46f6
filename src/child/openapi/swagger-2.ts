/** What Swagger 2 writes in another way: the schema of a parameter in the parameter, and lists of values. */
import type { Json } from "./documents.ts";
import type { Place, Serialization, Style } from "./style.ts";

const PARAMETER_WORDS: ReadonlySet<string> = new Set([
  "name",
  "in",
  "required",
  "description",
  "collectionFormat",
  "allowEmptyValue",
]);

export function withoutParameterWords(parameter: Json): Json {
  return Object.fromEntries(Object.entries(parameter).filter(([word]) => !PARAMETER_WORDS.has(word)));
}

const FORMATS: Readonly<Record<string, Style>> = {
  ssv: "spaceDelimited",
  tsv: "tabDelimited",
  pipes: "pipeDelimited",
};

export function styleOfCollection({ collectionFormat }: Json, place: Place): Serialization {
  const format = String(collectionFormat);
  const plain = place === "path" || place === "header" ? "simple" : "form";
  const style = Object.hasOwn(FORMATS, format) ? (FORMATS[format] as Style) : plain;
  return { style, explode: format === "multi", allowReserved: false };
}

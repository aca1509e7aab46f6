/** Rewrites what OpenAPI 3.0 and Swagger 2 say in words of their own into JSON Schema 2020-12. Pure. */
import type { Json } from "./documents.ts";

/** A value of bytes that are no JSON. */
export function isFile({ type, format, contentMediaType, contentEncoding }: Json): boolean {
  if (type === "file") return true;
  if (type !== undefined && type !== "string") return false;
  return format === "binary" || (contentMediaType !== undefined && contentEncoding === undefined);
}

/** `exclusiveMinimum: true` with a `minimum`, as in OpenAPI 3.0. */
export function withExclusiveNumbers(schema: Json): Json {
  const { exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  if (typeof exclusiveMinimum !== "boolean" && typeof exclusiveMaximum !== "boolean") return schema;
  const { minimum, maximum, ...others } = rest;
  return {
    ...others,
    ...limit("minimum", "exclusiveMinimum", minimum, exclusiveMinimum),
    ...limit("maximum", "exclusiveMaximum", maximum, exclusiveMaximum),
  };
}

function limit(plain: string, exclusive: string, value: unknown, isExclusive: unknown): Json {
  if (typeof isExclusive === "number") return { [exclusive]: isExclusive };
  return value === undefined ? {} : { [isExclusive === true ? exclusive : plain]: value };
}

/** `always`: null is allowed anyway, because many answers have it where their document does not say so. */
export function withNull(schema: Json, written: Json, always: boolean): Json {
  if (!always && written["nullable"] !== true && written["x-nullable"] !== true) return schema;
  const { type, enum: values, anyOf, oneOf, ...rest } = schema;
  const open =
    Array.isArray(values) && !values.includes(null) ? { enum: [...(values as unknown[]), null] } : {};
  if (type !== undefined) {
    const types = [type].flat();
    return { ...schema, ...open, type: types.includes("null") ? type : [...(types as unknown[]), "null"] };
  }
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices) && !(anyOf && oneOf)) {
    const word = anyOf ? "anyOf" : "oneOf";
    return { ...rest, ...open, [word]: [...(choices as unknown[]), { type: "null" }] };
  }
  return { ...schema, ...open };
}

/**
 * Turns a schema into the description of one form field: its kind, title, description, default and bounds.
 */
import { listAt, mergeSchemas, numberAt, objectAt, resolve, type Schema, textAt } from "./schema.ts";

export interface Member {
  readonly name: string;
  readonly schema: unknown;
  readonly required: boolean;
}

export interface Choice {
  readonly label: string;
  readonly value: unknown;
}

export interface Variant {
  readonly label: string;
  readonly schema: unknown;
}

export interface Bounds {
  readonly least?: number | undefined;
  readonly most?: number | undefined;
}

export interface NumberBounds extends Bounds {
  /** Exclusive bounds. */
  readonly above?: number | undefined;
  readonly below?: number | undefined;
}

export type Shape =
  | { readonly kind: "object"; readonly members: readonly Member[]; readonly additional: unknown }
  | {
      readonly kind: "array";
      readonly prefix: readonly unknown[];
      readonly items: unknown;
      readonly size: Bounds;
    }
  | { readonly kind: "union"; readonly variants: readonly Variant[] }
  | { readonly kind: "choice"; readonly choices: readonly Choice[] }
  | { readonly kind: "const"; readonly value: unknown }
  | {
      readonly kind: "text";
      readonly format: string;
      readonly pattern: string | undefined;
      readonly size: Bounds;
    }
  | { readonly kind: "file"; readonly mediaType: string | undefined }
  | { readonly kind: "number"; readonly whole: boolean; readonly size: NumberBounds }
  | { readonly kind: "boolean" }
  | { readonly kind: "null" }
  /** The schema says too little: a JSON field. */
  | { readonly kind: "any" };

export type FormNode = Shape & {
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** The value may also be null. */
  readonly nullable: boolean;
  /** undefined: the schema has no default. */
  readonly defaultValue: unknown;
  readonly examples: readonly unknown[];
};

export function nodeOf(schema: unknown, root: unknown): FormNode {
  const resolved = resolve(schema, root);
  const { shape, nullable } = shapeOf(resolved, root);
  return {
    ...shape,
    title: textAt(resolved, "title"),
    description: textAt(resolved, "description"),
    nullable: nullable || resolved["nullable"] === true,
    defaultValue: resolved["default"],
    examples: listAt(resolved, "examples"),
  };
}

interface ShapeResult {
  readonly shape: Shape;
  readonly nullable: boolean;
}

function shapeOf(schema: Schema, root: unknown): ShapeResult {
  if ("const" in schema) return { shape: { kind: "const", value: schema["const"] }, nullable: false };
  const choices = listAt(schema, "enum");
  if (choices.length > 0)
    return { shape: { kind: "choice", choices: choices.map(choiceOf) }, nullable: false };
  const variants = variantsOf(schema, root);
  if (variants.length > 0) return unionOf(schema, variants, root);
  const types = typesOf(schema);
  const nonNull = types.filter((type) => type !== "null");
  const nullable = types.length > nonNull.length && nonNull.length > 0;
  if (nonNull.length > 1)
    return {
      shape: {
        kind: "union",
        variants: nonNull.map((type) => ({ label: type, schema: { ...schema, type } })),
      },
      nullable,
    };
  return {
    shape: plainShape(schema, types.length > 0 && nonNull.length === 0 ? "null" : nonNull[0]),
    nullable,
  };
}

function unionOf(schema: Schema, variants: readonly Schema[], root: unknown): ShapeResult {
  const nonNull = variants.filter((one) => !isNull(one));
  const nullable = nonNull.length < variants.length;
  const { oneOf: _oneOf, anyOf: _anyOf, ...base } = schema;
  if (nonNull.length === 1) {
    const only = shapeOf(mergeSchemas(base, nonNull[0] ?? {}), root);
    return { shape: only.shape, nullable: nullable || only.nullable };
  }
  const single = nonNull.map(singleValue);
  if (single.every((one) => one !== undefined))
    return { shape: { kind: "choice", choices: single }, nullable };
  const shared = "properties" in base;
  return {
    shape: {
      kind: "union",
      variants: nonNull.map((one, at) => ({
        label: labelOf(one, root) ?? `Option ${at + 1}`,
        schema: shared ? mergeSchemas(base, one) : one,
      })),
    },
    nullable,
  };
}

/**
 * Returns the variants if each describes a value. Variants that only require members matter for validation,
 * not for the form.
 */
function variantsOf(schema: Schema, root: unknown): readonly Schema[] {
  const all = listAt(schema, listAt(schema, "oneOf").length > 0 ? "oneOf" : "anyOf").map((one) =>
    resolve(one, root),
  );
  const describesValue = (one: Schema) =>
    typesOf(one).length > 0 ||
    "const" in one ||
    listAt(one, "enum").length > 0 ||
    "oneOf" in one ||
    "anyOf" in one;
  return all.every(describesValue) ? all : [];
}

function isNull(schema: Schema): boolean {
  return schema["type"] === "null" || ("const" in schema && schema["const"] === null);
}

/** Reads a variant that allows one value only: `{const: "a", title: "First"}`. */
function singleValue(schema: Schema): Choice | undefined {
  const values = listAt(schema, "enum");
  const value = "const" in schema ? schema["const"] : values[0];
  if (!("const" in schema) && values.length !== 1) return undefined;
  const title = textAt(schema, "title") ?? textAt(schema, "description");
  return { value, label: title ?? choiceOf(value).label };
}

/** Returns the label of a variant: its title, its constants, its required members or its type. */
function labelOf(schema: Schema, root: unknown): string | undefined {
  const title = textAt(schema, "title");
  if (title) return title;
  const constants = Object.entries(objectAt(schema, "properties")).flatMap(([name, one]) => {
    const constant = singleValue(resolve(one, root));
    return constant ? [`${name}: ${constant.label}`] : [];
  });
  if (constants.length > 0) return constants.join(", ");
  const names = listAt(schema, "required").filter((name) => typeof name === "string");
  if (names.length > 0) return names.join(", ");
  const types = typesOf(schema);
  return types.length > 0 ? types.join(" or ") : undefined;
}

function choiceOf(value: unknown): Choice {
  return { value, label: typeof value === "string" && value !== "" ? value : JSON.stringify(value) };
}

const TYPE_KEYWORDS: readonly (readonly [type: string, keys: readonly string[]])[] = [
  ["object", ["properties", "additionalProperties", "patternProperties"]],
  ["array", ["items", "prefixItems", "minItems", "maxItems"]],
  ["string", ["pattern", "minLength", "maxLength", "format", "contentEncoding"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

function typesOf(schema: Schema): readonly string[] {
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === "string");
  const match = TYPE_KEYWORDS.find(([, keys]) => keys.some((key) => key in schema));
  return match ? [match[0]] : [];
}

function plainShape(schema: Schema, type = "any"): Shape {
  switch (type) {
    case "object":
      return objectShape(schema);
    case "array":
      return arrayShape(schema);
    case "string":
      return textShape(schema);
    case "number":
    case "integer":
      return numberShape(schema, type === "integer");
    case "boolean":
    case "null":
      return { kind: type };
    default:
      return { kind: "any" };
  }
}

function objectShape(schema: Schema): Shape {
  const required = new Set(listAt(schema, "required"));
  const members = Object.entries(objectAt(schema, "properties"))
    .filter(([, one]) => one !== false)
    .map(([name, one]) => ({ name, schema: one, required: required.has(name) }));
  // Required members that `properties` does not describe.
  for (const name of required)
    if (typeof name === "string" && !members.some((member) => member.name === name))
      members.push({ name, schema: true, required: true });
  const [pattern] = Object.values(objectAt(schema, "patternProperties"));
  const open = members.length === 0 ? true : undefined;
  const additional = schema["additionalProperties"] ?? pattern ?? open;
  return { kind: "object", members, additional: additional === false ? pattern : additional };
}

function arrayShape(schema: Schema): Shape {
  const { items, additionalItems } = schema;
  const tuple = Array.isArray(items);
  const prefix = tuple ? (items as readonly unknown[]) : listAt(schema, "prefixItems");
  const rest = tuple ? additionalItems : items;
  return {
    kind: "array",
    prefix,
    items: rest === undefined ? prefix.length === 0 : rest,
    size: { least: numberAt(schema, "minItems"), most: numberAt(schema, "maxItems") },
  };
}

function textShape(schema: Schema): Shape {
  const format = textAt(schema, "format") ?? "";
  const mediaType = textAt(schema, "contentMediaType");
  if (schema["contentEncoding"] === "base64" || format === "byte" || format === "binary")
    return { kind: "file", mediaType };
  return {
    kind: "text",
    format,
    pattern: textAt(schema, "pattern"),
    size: { least: numberAt(schema, "minLength"), most: numberAt(schema, "maxLength") },
  };
}

function numberShape(schema: Schema, whole: boolean): Shape {
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  const least = numberAt(schema, "minimum");
  const most = numberAt(schema, "maximum");
  return {
    kind: "number",
    whole,
    size: {
      // Draft-04 writes `exclusiveMinimum: true` beside the minimum.
      ...(exclusiveMinimum === true
        ? { above: least }
        : { least, above: numberAt(schema, "exclusiveMinimum") }),
      ...(exclusiveMaximum === true
        ? { below: most }
        : { most, below: numberAt(schema, "exclusiveMaximum") }),
    },
  };
}

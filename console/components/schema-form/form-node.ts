/** What one place of a form is, made from its schema: the kind of field, and what is said about it. */
import { join, listAt, numberAt, objectAt, resolve, type Schema, textAt } from "./schema.ts";

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
  /** `least` and `most` themselves are too little, too much. */
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
  /** Nothing certain is known: a field for JSON. */
  | { readonly kind: "any" };

export type FormNode = Shape & {
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** May be null as well. */
  readonly nullable: boolean;
  /** What it is where nothing is given; undefined: not said. */
  readonly standard: unknown;
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
    standard: resolved["default"],
    examples: listAt(resolved, "examples"),
  };
}

interface Found {
  readonly shape: Shape;
  readonly nullable: boolean;
}

function shapeOf(schema: Schema, root: unknown): Found {
  if ("const" in schema) return { shape: { kind: "const", value: schema["const"] }, nullable: false };
  const choices = listAt(schema, "enum");
  if (choices.length > 0)
    return { shape: { kind: "choice", choices: choices.map(choiceOf) }, nullable: false };
  const variants = variantsOf(schema, root);
  if (variants.length > 0) return unionOf(schema, variants, root);
  const types = typesOf(schema);
  const solid = types.filter((type) => type !== "null");
  const nullable = types.length > solid.length && solid.length > 0;
  if (solid.length > 1)
    return {
      shape: { kind: "union", variants: solid.map((type) => ({ label: type, schema: { ...schema, type } })) },
      nullable,
    };
  return { shape: plainShape(schema, types.length > 0 && solid.length === 0 ? "null" : solid[0]), nullable };
}

function unionOf(schema: Schema, variants: readonly Schema[], root: unknown): Found {
  const solid = variants.filter((one) => !isNull(one));
  const nullable = solid.length < variants.length;
  const { oneOf: _oneOf, anyOf: _anyOf, ...base } = schema;
  if (solid.length === 1) {
    const only = shapeOf(join(base, solid[0] ?? {}), root);
    return { shape: only.shape, nullable: nullable || only.nullable };
  }
  const single = solid.map(singleValue);
  if (single.every((one) => one !== undefined))
    return { shape: { kind: "choice", choices: single }, nullable };
  const shared = "properties" in base;
  return {
    shape: {
      kind: "union",
      variants: solid.map((one, at) => ({
        label: labelOf(one, root) ?? `Option ${at + 1}`,
        schema: shared ? join(base, one) : one,
      })),
    },
    nullable,
  };
}

/** Variants that say what a value is; those that only demand some members are for who checks, not for who fills in. */
function variantsOf(schema: Schema, root: unknown): readonly Schema[] {
  const all = listAt(schema, listAt(schema, "oneOf").length > 0 ? "oneOf" : "anyOf").map((one) =>
    resolve(one, root),
  );
  const tells = (one: Schema) =>
    typesOf(one).length > 0 ||
    "const" in one ||
    listAt(one, "enum").length > 0 ||
    "oneOf" in one ||
    "anyOf" in one;
  return all.every(tells) ? all : [];
}

function isNull(schema: Schema): boolean {
  return schema["type"] === "null" || ("const" in schema && schema["const"] === null);
}

/** A variant that is one value, with its name: `{const: "a", title: "First"}`. */
function singleValue(schema: Schema): Choice | undefined {
  const values = listAt(schema, "enum");
  const value = "const" in schema ? schema["const"] : values[0];
  if (!("const" in schema) && values.length !== 1) return undefined;
  const title = textAt(schema, "title") ?? textAt(schema, "description");
  return { value, label: title ?? choiceOf(value).label };
}

/** What a variant is called: its title, the values that tell it from the others, its type. */
function labelOf(schema: Schema, root: unknown): string | undefined {
  const title = textAt(schema, "title");
  if (title) return title;
  const marks = Object.entries(objectAt(schema, "properties")).flatMap(([name, one]) => {
    const mark = singleValue(resolve(one, root));
    return mark ? [`${name}: ${mark.label}`] : [];
  });
  if (marks.length > 0) return marks.join(", ");
  const names = listAt(schema, "required").filter((name) => typeof name === "string");
  if (names.length > 0) return names.join(", ");
  const types = typesOf(schema);
  return types.length > 0 ? types.join(" or ") : undefined;
}

function choiceOf(value: unknown): Choice {
  return { value, label: typeof value === "string" && value !== "" ? value : JSON.stringify(value) };
}

const HINTS: readonly (readonly [type: string, keys: readonly string[]])[] = [
  ["object", ["properties", "additionalProperties", "patternProperties"]],
  ["array", ["items", "prefixItems", "minItems", "maxItems"]],
  ["string", ["pattern", "minLength", "maxLength", "format", "contentEncoding"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

function typesOf(schema: Schema): readonly string[] {
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === "string");
  const hint = HINTS.find(([, keys]) => keys.some((key) => key in schema));
  return hint ? [hint[0]] : [];
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
  // What is demanded and not described.
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

/** One field of an elicitation form: its description, its prompt, and how a typed line is read. Pure. */

/** The field types of MCP: string, number, boolean, one of a list, several of a list. */
export interface FieldSchema {
  readonly type?: "string" | "number" | "integer" | "boolean" | "array";
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly enumNames?: readonly string[];
  readonly oneOf?: readonly Option[];
  readonly items?: { readonly enum?: readonly string[]; readonly anyOf?: readonly Option[] };
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

interface Option {
  readonly const: string;
  readonly title?: string;
}

export interface Field {
  readonly name: string;
  readonly schema: FieldSchema;
  readonly required: boolean;
}

/** The field is omitted if `value` is undefined. */
export type FieldResult = { readonly value: unknown } | { readonly problem: string };

/** The label, the description and the numbered choices of a field. */
export function describeField({ name, schema, required }: Field): string {
  const { title, description } = schema;
  const label = title && title !== name ? `${title} (${name})` : name;
  const choices = optionsOf(schema).map((option, at) => `  ${at + 1}. ${option.title ?? option.const}`);
  const notes = [hintOf(schema), required ? "required" : "optional"].filter((note) => note !== "");
  return [`${label}: ${notes.join(", ")}`, ...(description ? [`  ${description}`] : []), ...choices].join(
    "\n",
  );
}

export function promptOf({ name, schema }: Field): string {
  const preset = schema.default;
  return preset === undefined ? `${name}: ` : `${name} [${shownValue(preset)}]: `;
}

function hintOf({ type, format, items }: FieldSchema): string {
  if (items) return "numbers of your choices, separated by commas";
  if (type === "boolean") return "yes or no";
  if (type === "number" || type === "integer") return type === "integer" ? "a whole number" : "a number";
  return format ?? "";
}

function shownValue(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

function optionsOf({ enum: values, enumNames = [], oneOf, items }: FieldSchema): readonly Option[] {
  if (items) return items.anyOf ?? (items.enum ?? []).map((value) => ({ const: value }));
  const named = (value: string, at: number): Option => {
    const title = enumNames[at];
    return title === undefined ? { const: value } : { const: value, title };
  };
  return oneOf ?? (values ?? []).map(named);
}

/** Reads a typed line as the value of the field. */
export function readField({ schema, required }: Field, line: string): FieldResult {
  const text = line.trim();
  if (text === "") {
    if (schema.default !== undefined) return { value: schema.default };
    return required ? { problem: "This field is required." } : { value: undefined };
  }
  if (schema.items) return readSeveral(schema, text);
  const options = optionsOf(schema);
  if (options.length > 0) return readOption(options, text);
  if (schema.type === "boolean") return readYesOrNo(text);
  return schema.type === "number" || schema.type === "integer"
    ? readNumber(schema, text)
    : readText(schema, text);
}

function readSeveral(schema: FieldSchema, text: string): FieldResult {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const values: unknown[] = [];
  for (const part of text.split(",")) {
    const reading = readOption(optionsOf(schema), part.trim());
    if ("problem" in reading) return reading;
    values.push(reading.value);
  }
  if (values.length < minItems) return { problem: `Choose at least ${minItems}.` };
  return values.length > maxItems ? { problem: `Choose at most ${maxItems}.` } : { value: values };
}

/** Finds an option by number, value or title. */
function readOption(options: readonly Option[], text: string): FieldResult {
  const chosen =
    options.find((option) => option.const === text || option.title === text) ??
    (/^\d+$/.test(text) ? options[Number(text) - 1] : undefined);
  return chosen ? { value: chosen.const } : { problem: `Type a number from 1 to ${options.length}.` };
}

function readYesOrNo(text: string): FieldResult {
  if (/^(?:y|yes|true)$/i.test(text)) return { value: true };
  return /^(?:n|no|false)$/i.test(text) ? { value: false } : { problem: "Type yes or no." };
}

function readNumber({ type, minimum, maximum }: FieldSchema, text: string): FieldResult {
  const value = Number(text);
  if (!Number.isFinite(value)) return { problem: "This is not a number." };
  if (type === "integer" && !Number.isInteger(value)) return { problem: "This is not a whole number." };
  if (minimum !== undefined && value < minimum) return { problem: `The minimum is ${minimum}.` };
  return maximum !== undefined && value > maximum ? { problem: `The maximum is ${maximum}.` } : { value };
}

function readText({ format, minLength = 0, maxLength }: FieldSchema, text: string): FieldResult {
  if (text.length < minLength) return { problem: `Type at least ${minLength} characters.` };
  if (maxLength !== undefined && text.length > maxLength)
    return { problem: `Type at most ${maxLength} characters.` };
  if (format === "email" && !/^\S+@\S+$/.test(text)) return { problem: "This is not an email address." };
  if (format === "uri" && !URL.canParse(text)) return { problem: "This is not a web address." };
  return { value: text };
}

/**
 * Extracts the texts of a tool that are searched, by field. All are bounded, because a hostile schema can be
 * arbitrarily large.
 */
import { isRecord } from "../../kernel/is-record.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import type { Tool } from "../tool.ts";

export interface ToolText {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: string;
  readonly parameterTexts: string;
}

const MAX_NAME_LENGTH = 256;
const MAX_TEXT_LENGTH = 4_000;
const MAX_DEPTH = 2;
const MAX_PARAMETERS = 200;
const MAX_CHOICES = 30;

export function textOf(tool: Tool): ToolText {
  const schema: SchemaText = { names: [], texts: [] };
  readSchema(parse(tool.inputSchema), schema, 0);
  return {
    name: tool.name.slice(0, MAX_NAME_LENGTH),
    title: (tool.title ?? tool.annotations.title ?? "").slice(0, MAX_NAME_LENGTH),
    description: tool.description.slice(0, MAX_TEXT_LENGTH),
    parameters: schema.names.join(" ").slice(0, MAX_TEXT_LENGTH),
    parameterTexts: schema.texts.join(" ").slice(0, MAX_TEXT_LENGTH),
  };
}

interface SchemaText {
  readonly names: string[];
  readonly texts: string[];
}

function parse(schema: Raw): unknown {
  try {
    return fromRaw(schema);
  } catch {
    return undefined;
  }
}

function readSchema(schema: unknown, out: SchemaText, depth: number): void {
  if (!isRecord(schema) || !isRecord(schema["properties"])) return;
  for (const [name, property] of Object.entries(schema["properties"])) {
    if (out.names.length >= MAX_PARAMETERS) return;
    out.names.push(name.slice(0, MAX_NAME_LENGTH));
    if (!isRecord(property)) continue;
    const { description, enum: choices, items } = property;
    if (typeof description === "string") out.texts.push(description.slice(0, MAX_TEXT_LENGTH));
    if (Array.isArray(choices)) out.texts.push(choiceText(choices));
    if (depth < MAX_DEPTH) {
      readSchema(property, out, depth + 1);
      readSchema(items, out, depth + 1);
    }
  }
}

function choiceText(choices: readonly unknown[]): string {
  return choices
    .slice(0, MAX_CHOICES)
    .filter((choice) => typeof choice === "string")
    .map((choice) => choice.slice(0, MAX_NAME_LENGTH))
    .join(" ");
}

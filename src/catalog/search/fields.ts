/** What of a tool is searched: its texts by field, bounded, whatever a hostile schema holds. */
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

const LONGEST_NAME = 256;
const LONGEST_TEXT = 4_000;
const DEEPEST = 2;
const MOST_PARAMETERS = 200;
const MOST_CHOICES = 30;

export function textOf(tool: Tool): ToolText {
  const schema: SchemaText = { names: [], texts: [] };
  readSchema(parse(tool.inputSchema), schema, 0);
  return {
    name: tool.name.slice(0, LONGEST_NAME),
    title: (tool.title ?? tool.annotations.title ?? "").slice(0, LONGEST_NAME),
    description: tool.description.slice(0, LONGEST_TEXT),
    parameters: schema.names.join(" ").slice(0, LONGEST_TEXT),
    parameterTexts: schema.texts.join(" ").slice(0, LONGEST_TEXT),
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
    if (out.names.length >= MOST_PARAMETERS) return;
    out.names.push(name.slice(0, LONGEST_NAME));
    if (!isRecord(property)) continue;
    const { description, enum: choices, items } = property;
    if (typeof description === "string") out.texts.push(description.slice(0, LONGEST_TEXT));
    if (Array.isArray(choices)) out.texts.push(choiceText(choices));
    if (depth < DEEPEST) {
      readSchema(property, out, depth + 1);
      readSchema(items, out, depth + 1);
    }
  }
}

function choiceText(choices: readonly unknown[]): string {
  return choices
    .slice(0, MOST_CHOICES)
    .filter((choice) => typeof choice === "string")
    .map((choice) => choice.slice(0, LONGEST_NAME))
    .join(" ");
}

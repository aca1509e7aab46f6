/** The output schema of an operation, from its successful answers. Pure. */
import { isRecord } from "../../kernel/is-record.ts";
import { type Documents, type Json, type Located, recordOf } from "./documents.ts";
import { isMediaType } from "./input.ts";
import type { Operation } from "./operation.ts";
import type { Plan } from "./plan.ts";
import { SchemaWriter } from "./schema-writer.ts";

export interface Output {
  readonly schema?: Json;
  readonly answer: Plan["answer"];
  readonly accept: string;
}

const MAX_LENGTH = 6_000;
const JSON_TYPE = /^application\/json\b|[/+]json\b/i;

export function outputOf(documents: Documents, { answers, mcp }: Operation): Output {
  const json = answers.find(({ type }) => JSON_TYPE.test(type));
  const types = (json ? [json] : answers).map(({ type }) => type).filter(isMediaType);
  const accept = [...types.slice(0, 8), "*/*;q=0.1"].join(", ");
  try {
    if (mcp) {
      const structured = mcp["structured"] === true && json?.schema;
      return { answer: "tool", accept, ...(structured && { schema: exactSchema(documents, structured) }) };
    }
    if (!json?.schema || isOpen(documents.follow(json.schema))) return { answer: "text", accept };
    return { accept, ...schemaOf(documents, json.schema) };
  } catch {
    // An answer that cannot be described is still an answer.
    return { answer: mcp ? "tool" : "text", accept };
  }
}

function exactSchema(documents: Documents, at: Located): Json {
  const writer = new SchemaWriter(documents, { for: "exact", maxLength: Number.POSITIVE_INFINITY });
  return { ...writer.root(at), ...writer.defs() };
}

function isOpen({ value }: Located): boolean {
  return !isRecord(value) || Object.keys(value).length === 0;
}

function schemaOf(documents: Documents, at: Located): Pick<Output, "schema" | "answer"> {
  const writer = new SchemaWriter(documents, { for: "output", maxLength: MAX_LENGTH });
  const target = documents.follow(at);
  if (isObjectSchema(target)) {
    const root = writer.root(target);
    return { answer: "object", schema: { ...root, type: "object", ...writer.defs() } };
  }
  const result = writer.part(target);
  return { answer: "wrapped", schema: { type: "object", properties: { result }, ...writer.defs() } };
}

function isObjectSchema(at: Located): boolean {
  const { type, properties, allOf, anyOf, oneOf } = recordOf(at);
  if (type !== undefined) return type === "object";
  return (properties !== undefined || allOf !== undefined) && anyOf === undefined && oneOf === undefined;
}

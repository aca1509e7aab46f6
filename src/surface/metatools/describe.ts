/** describe_tool and list_tool_examples: one tool at three levels of detail, and what each of them costs. */
import { joinArray } from "../../catalog/json-array.ts";
import { typesOf } from "../../catalog/signature.ts";
import { summarize } from "../../catalog/summary.ts";
import type { Tool } from "../../catalog/tool.ts";
import { mustAsk } from "../../config/glob.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { entries, isObject, joinObject, members } from "../../rpc/slice.ts";
import type { ClientRequest } from "../face.ts";
import type { Scope } from "../scope.ts";
import { answer } from "./answer.ts";
import { examplesOf } from "./examples.ts";
import { requireTool } from "./known-tool.ts";
import { splitId } from "./tool-id.ts";

type Input = ReadonlyMap<string, Raw>;
type Members = readonly (readonly [string, Raw | undefined])[];

const LEVELS = ["summary", "schema", "full"] as const;
type Level = (typeof LEVELS)[number];

const SUMMARY = 300;
const MOST_REFS = 10;
/** Dense JSON: about four bytes per token with common tokenizers. */
const BYTES_PER_TOKEN = 4;

export async function describeTool(scope: Scope, input: Input, request: ClientRequest): Promise<Raw> {
  const tool = await requireTool(scope, splitId(read(input, "tool_id") as string), request);
  const level = read(input, "detail_level") as Level;
  const examples = await examplesOf(scope, tool, read(input, "examples_max") as number | undefined);
  const parts: Readonly<Record<Level, Members>> = {
    summary: [["summary", toRaw(summaryOf(tool))]],
    schema: [
      ["tool", tool.definition],
      ["schemaInfo", schemaInfo(tool)],
    ],
    full: [
      ["notes", toRaw(notesOn(scope, tool))],
      ["examples", joinArray(examples)],
      ["externalRefs", toRaw(refsIn(tool))],
    ],
  };
  const upTo = (last: Level): Members =>
    LEVELS.slice(0, LEVELS.indexOf(last) + 1).flatMap((each) => parts[each]);
  const costs = LEVELS.map((each) => [each, Math.ceil(joinObject(upTo(each)).length / BYTES_PER_TOKEN)]);
  const tokens = toRaw(Object.fromEntries(costs));
  return answer(request.origin, {
    structured: joinObject([...upTo(level), ["tokens", tokens]]),
    text: summaryOf(tool),
  });
}

export async function listToolExamples(scope: Scope, input: Input, request: ClientRequest): Promise<Raw> {
  const tool = await requireTool(scope, splitId(read(input, "tool_id") as string), request);
  const examples = await examplesOf(scope, tool, read(input, "max") as number | undefined);
  return answer(request.origin, {
    structured: joinObject([["examples", joinArray(examples)]]),
    text:
      examples.length > 0
        ? `${examples.length} examples.`
        : "No examples are known: its schema says what it takes.",
  });
}

function read(input: Input, key: string): unknown {
  const raw = input.get(key);
  return raw && fromRaw(raw);
}

function summaryOf({ description, title, name }: Tool): string {
  return summarize(description || title || name, SUMMARY);
}

/** Defaults as they were written: a number of 20 digits is still one. */
function schemaInfo({ inputSchema }: Tool): Raw {
  const [properties, required] = members(inputSchema, ["properties", "required"]);
  const names = required && fromRaw(required);
  const defaults =
    properties && isObject(properties)
      ? entries(properties).map(([key, value]) => [key, members(value, ["default"])[0]] as const)
      : [];
  return joinObject([
    ["required", toRaw(Array.isArray(names) ? names.filter((name) => typeof name === "string") : [])],
    ["defaults", joinObject(defaults)],
    ["types", toRaw(Object.fromEntries(typesOf(inputSchema)))],
  ]);
}

function notesOn(scope: Scope, { server, name, annotations, definition }: Tool): string {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const rules = scope.specs().get(server)?.tools;
  const [output] = members(definition, ["outputSchema"]);
  return [
    ...(readOnlyHint === true ? ["It only reads."] : []),
    ...(destructiveHint === true && readOnlyHint !== true ? ["It may destroy what is there."] : []),
    ...(idempotentHint === true ? ["Doing it twice is the same as doing it once."] : []),
    ...(openWorldHint === true ? ["It reaches beyond its own data, e.g. into the web."] : []),
    ...(rules && mustAsk(rules, name) ? ["A person is asked before it runs."] : []),
    ...(output ? ["It declares what it gives: see outputSchema."] : []),
    ...(scope.catalog.snapshot.listings.get(server)?.source === "cache"
      ? ["Known from an earlier run; its server has not confirmed it yet."]
      : []),
  ].join(" ");
}

function refsIn({ description }: Tool): readonly string[] {
  const found = description.match(/https?:\/\/[^\s<>"'`)\]}]+/g) ?? [];
  return [...new Set(found.map((url) => url.replace(/[.,;:!?]+$/, "")))].slice(0, MOST_REFS);
}

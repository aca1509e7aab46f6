/**
 * describe_tool and list_tool_examples: describe one tool at three levels of detail, with the number of
 * tokens of each level.
 */
import { joinArray } from "../../catalog/json-array.ts";
import { typesOf } from "../../catalog/signature.ts";
import { summarize } from "../../catalog/summary.ts";
import type { Tool } from "../../catalog/tool.ts";
import { mustAsk } from "../../config/glob.ts";
import type { Origin } from "../../kernel/call.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { tokensOf } from "../../kernel/tokens.ts";
import { entries, isObject, joinObject, member, members } from "../../rpc/slice.ts";
import { instructionsOf } from "../about-server.ts";
import type { Input } from "../input.ts";
import { notedPreview, shorten, withPreview } from "../result/budget.ts";
import type { Scope, ScopeCalls, ScopeCatalog, ScopeFacts } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { answer } from "./answer.ts";
import { budgetFor, budgetOf } from "./bounds.ts";
import { examplesOf } from "./examples.ts";
import { requireTool } from "./known-tool.ts";
import { splitId } from "./tool-id.ts";
import { DESCRIBE_TOOL } from "./tools.ts";

type Members = readonly (readonly [string, Raw | undefined])[];

const LEVELS = ["summary", "schema", "full"] as const;
type Level = (typeof LEVELS)[number];

const SUMMARY_LENGTH = 300;
const MAX_REFS = 10;

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
      ["notes", toRaw(notesOn(scope, tool, request.origin))],
      ["examples", joinArray(examples)],
      ["externalRefs", toRaw(refsIn(tool))],
    ],
  };
  const upTo = (last: Level): Members =>
    LEVELS.slice(0, LEVELS.indexOf(last) + 1).flatMap((each) => parts[each]);
  const costs = LEVELS.map((each) => [each, tokensOf(joinObject(upTo(each)).length)]);
  const tokens = toRaw(Object.fromEntries(costs));
  const structured = joinObject([...upTo(level), ["tokens", tokens]]);
  if (structured.length <= budgetFor(scope)) return answer(request.origin, { structured });
  return shortDescription(scope, { structured, always: [...parts.summary, ["tokens", tokens]] }, request);
}

/** Too large to show: a preview, and a link to the whole. */
function shortDescription(
  scope: ScopeCatalog & ScopeFacts,
  { structured, always }: { readonly structured: Raw; readonly always: Members },
  { origin }: ClientRequest,
): Raw {
  const whole = joinObject([
    ["content", toRaw([])],
    ["structuredContent", structured],
  ]);
  const short = shorten(whole, budgetOf(scope, DESCRIBE_TOOL.name, origin));
  return withPreview(short, (shown) =>
    answer(origin, {
      structured: joinObject([...always, ["notes", toRaw(short.note)]]),
      text: notedPreview(short, shown),
      blocks: short.blocks,
    }),
  );
}

export async function listToolExamples(
  scope: ScopeCatalog & ScopeCalls,
  input: Input,
  request: ClientRequest,
): Promise<Raw> {
  const tool = await requireTool(scope, splitId(read(input, "tool_id") as string), request);
  const examples = await examplesOf(scope, tool, read(input, "max") as number | undefined);
  return answer(request.origin, {
    structured: joinObject([["examples", joinArray(examples)]]),
    note: examples.length > 0 ? undefined : "There are no examples. describe_tool shows the arguments.",
  });
}

function read(input: Input, key: string): unknown {
  const raw = input.get(key);
  return raw && fromRaw(raw);
}

function summaryOf({ description, title, name }: Tool): string {
  return summarize(description || title || name, SUMMARY_LENGTH);
}

/** Defaults are copied byte for byte, so that large numbers lose no digits. */
function schemaInfo({ inputSchema }: Tool): Raw {
  const [properties, required] = members(inputSchema, ["properties", "required"]);
  const names = required && fromRaw(required);
  const defaults =
    properties && isObject(properties)
      ? entries(properties).map(([key, value]) => [key, member(value, "default")] as const)
      : [];
  return joinObject([
    ["required", toRaw(Array.isArray(names) ? names.filter((name) => typeof name === "string") : [])],
    ["defaults", joinObject(defaults)],
    ["types", toRaw(Object.fromEntries(typesOf(inputSchema)))],
  ]);
}

function notesOn(
  scope: ScopeCatalog,
  { server, name, annotations, definition }: Tool,
  origin: Origin,
): string {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const rules = scope.specs().get(server)?.tools;
  const output = member(definition, "outputSchema");
  const listing = scope.view(origin).snapshot.listings.get(server);
  const instructions = listing && instructionsOf(listing);
  const notes = [
    ...(readOnlyHint === true ? ["Only reads."] : []),
    ...(destructiveHint === true && readOnlyHint !== true ? ["May delete or overwrite data."] : []),
    ...(idempotentHint === true ? ["Repeating it has no further effect."] : []),
    ...(openWorldHint === true ? ["Accesses external systems, such as the web."] : []),
    ...(rules && mustAsk(rules, name) ? ["Asks a person before it runs."] : []),
    ...(output ? ["Has an output schema."] : []),
    ...(listing?.source === "cache" ? ["From cache, not yet re-checked."] : []),
  ].join(" ");
  // The instructions may have several lines, so they start a new one.
  return [notes, ...(instructions ? [`Instructions of ${server}: ${instructions}`] : [])].join("\n").trim();
}

function refsIn({ description }: Tool): readonly string[] {
  const found = description.match(/https?:\/\/[^\s<>"'`)\]}]+/g) ?? [];
  return [...new Set(found.map((url) => url.replace(/[.,;:!?]+$/, "")))].slice(0, MAX_REFS);
}

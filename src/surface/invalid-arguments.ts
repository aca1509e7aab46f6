/**
 * The error for arguments that do not match a tool's schema. It shows the problems, the signature and only
 * the affected part of the schema.
 */
import type { ArgumentProblem } from "../catalog/check-arguments.ts";
import { signatureOf } from "../catalog/signature.ts";
import { type Tool, toolId } from "../catalog/tool.ts";
import { type ErrorContext, MetaMcpError } from "../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { entries, isObject, joinObject, member, members } from "../rpc/slice.ts";
import { RawDetails } from "./raw-details.ts";

type Entry = readonly [string, Raw];

/** Largest part of the schema in an error, in bytes. */
const LARGEST_PART = 1_500;
const LONGEST_SIGNATURE = 400;
const DEFINITIONS = ["$defs", "definitions"] as const;

/** `context` is added to the error's own context, which names the tool. */
export function invalidArguments(
  tool: Tool,
  problems: readonly ArgumentProblem[],
  context: ErrorContext = {},
): MetaMcpError {
  const { server, name, inputSchema } = tool;
  const affected = affectedProperties(inputSchema, problems);
  const texts = problems.map(({ text }) => text);
  const details = joinObject([
    ["problems", toRaw(texts)],
    ["inputSchema", partOf(inputSchema, affected)],
  ]);
  const shown = affected.map(([key, schema]) => `${key}: ${schema.toString()}`).join(", ");
  const expected = `Signature: ${signatureOf(name, inputSchema, LONGEST_SIGNATURE)}.${shown && ` ${shown}`}`;
  const text = `The arguments do not match ${toolId(tool)}: ${texts.join("; ")}.`;
  return new MetaMcpError("validation_input", text, {
    ...context,
    server,
    tool_id: toolId(tool),
    details: fromRaw(details),
    cause: new RawDetails(details, expected),
  });
}

/** The properties that the problems are about, as many as fit into the limit. */
function affectedProperties(inputSchema: Raw, problems: readonly ArgumentProblem[]): readonly Entry[] {
  const properties = member(inputSchema, "properties");
  if (!properties || !isObject(properties)) return [];
  const affected = new Set(problems.map(({ argument }) => argument));
  let room = LARGEST_PART;
  return entries(properties).filter(([key, schema]) => {
    if (!affected.has(key) || schema.length + key.length > room) return false;
    room -= schema.length + key.length;
    return true;
  });
}

/** A schema of the affected properties, with the definitions that they refer to. */
function partOf(inputSchema: Raw, affected: readonly Entry[]): Raw | undefined {
  if (affected.length === 0) return undefined;
  const [type, required] = members(inputSchema, ["type", "required"]);
  const fields = [
    ["type", type] as const,
    ["properties", joinObject(affected)] as const,
    ["required", required] as const,
  ];
  const part = joinObject(fields);
  const whole = joinObject([...fields, ...definitionsFor(inputSchema, part)]);
  if (whole.length <= LARGEST_PART) return whole;
  return part.length <= LARGEST_PART ? part : joinObject(fields.slice(0, 2));
}

function definitionsFor(inputSchema: Raw, part: Raw): readonly Entry[] {
  return DEFINITIONS.flatMap((place): Entry[] => {
    const all = member(inputSchema, place);
    if (!all || !isObject(all)) return [];
    const used = entries(all).filter(([key]) => part.includes(`"#/${place}/${key}"`));
    return used.length > 0 ? [[place, joinObject(used)]] : [];
  });
}

/** Removes the schema from the error, for answers that contain the schema elsewhere. */
export function withoutSchema(error: MetaMcpError): MetaMcpError {
  const { inputSchema, ...details } = (error.context.details ?? {}) as { inputSchema?: unknown };
  if (error.code !== "validation_input" || inputSchema === undefined) return error;
  return error.with({ details, cause: undefined });
}

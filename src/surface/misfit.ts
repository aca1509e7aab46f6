/** Arguments that do not fit a tool: which, and what it takes in their place. Of the schema only the part that matters is shown. */
import { signatureOf } from "../catalog/signature.ts";
import { type Tool, toolId } from "../catalog/tool.ts";
import { type ErrorContext, MetaMcpError } from "../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { entries, isObject, joinObject, member, members } from "../rpc/slice.ts";
import { Written } from "./written.ts";

type Entry = readonly [string, Raw];

/** In bytes, of the part of the schema. */
const LARGEST_PART = 1_500;
const LONGEST_SIGNATURE = 400;
const DEFINITIONS = ["$defs", "definitions"] as const;

/** `context` says where it happened, as far as that is not the tool. */
export function misfit(tool: Tool, problems: readonly string[], context: ErrorContext = {}): MetaMcpError {
  const { server, name, inputSchema } = tool;
  const concerned = concernedIn(inputSchema, problems);
  const details = joinObject([
    ["problems", toRaw(problems)],
    ["inputSchema", partOf(inputSchema, concerned)],
  ]);
  const shown = concerned.map(([key, schema]) => `${key}: ${schema.toString()}`).join(", ");
  const takes = `Signature: ${signatureOf(name, inputSchema, LONGEST_SIGNATURE)}.${shown && ` ${shown}`}`;
  const text = `The arguments do not match ${toolId(tool)}: ${problems.join("; ")}.`;
  return new MetaMcpError("validation_input", text, {
    ...context,
    server,
    tool_id: toolId(tool),
    details: fromRaw(details),
    cause: new Written(details, takes),
  });
}

/** The properties that the problems speak of, as many as there is room for. */
function concernedIn(inputSchema: Raw, problems: readonly string[]): readonly Entry[] {
  const properties = member(inputSchema, "properties");
  if (!properties || !isObject(properties)) return [];
  let room = LARGEST_PART;
  return entries(properties).filter(([key, schema]) => {
    if (!problems.some((problem) => names(problem, key)) || schema.length + key.length > room) return false;
    room -= schema.length + key.length;
    return true;
  });
}

/** `key must be…`, `key.0.name must…`, `…required property 'key'` */
function names(problem: string, key: string): boolean {
  return problem.startsWith(`${key} `) || problem.startsWith(`${key}.`) || problem.includes(`'${key}'`);
}

/** A schema again, with the definitions that it refers to. */
function partOf(inputSchema: Raw, concerned: readonly Entry[]): Raw | undefined {
  if (concerned.length === 0) return undefined;
  const [type, required] = members(inputSchema, ["type", "required"]);
  const fields = [
    ["type", type] as const,
    ["properties", joinObject(concerned)] as const,
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

/** For where the same schema stands close by. */
export function withoutSchema(error: MetaMcpError): MetaMcpError {
  const { inputSchema, ...details } = (error.context.details ?? {}) as { inputSchema?: unknown };
  if (error.code !== "validation_input" || inputSchema === undefined) return error;
  return error.with({ details, cause: undefined });
}

/** Arguments that do not fit a tool: which, and what it takes on one line. The schema itself is shown once, in the details, and only where it is not long. */
import { signatureOf } from "../catalog/signature.ts";
import { type Tool, toolId } from "../catalog/tool.ts";
import { type ErrorContext, MetaMcpError } from "../kernel/errors.ts";
import { fromRaw, toRaw } from "../kernel/raw.ts";
import { joinObject, members } from "../rpc/slice.ts";
import type { Scope } from "./scope.ts";
import { Written } from "./written.ts";

const LARGEST_SCHEMA = 8_000;
const LONGEST_SIGNATURE = 600;

/** `context` says where it happened, as far as that is not the tool. */
export function misfit(
  scope: Scope,
  tool: Tool,
  problems: readonly string[],
  context: ErrorContext = {},
): MetaMcpError {
  const { server, name, inputSchema } = tool;
  const shown = inputSchema.length <= Math.min(LARGEST_SCHEMA, scope.maxResultBytes() ?? LARGEST_SCHEMA);
  const takes = `It takes ${signatureOf(name, inputSchema, LONGEST_SIGNATURE)}.`;
  const size = `${inputSchema.length.toLocaleString("en")} bytes`;
  const text = `The arguments do not fit ${toolId(tool)}: ${problems.join("; ")}. ${takes}`;
  const details = joinObject([
    ["problems", toRaw(problems)],
    ["inputSchema", shown ? inputSchema : undefined],
  ]);
  return new MetaMcpError("validation_input", shown ? text : `${text} Its schema of ${size} is not shown.`, {
    ...context,
    server,
    tool_id: toolId(tool),
    details: fromRaw(details),
    cause: new Written(details),
  });
}

/** For clients that show a model the text alone; the message says no word of it. */
export function schemaInWords({ code, context: { cause } }: MetaMcpError): string {
  if (code !== "validation_input" || !(cause instanceof Written)) return "";
  const [schema] = members(cause.details, ["inputSchema"]);
  return schema ? ` Its input schema: ${schema.toString()}` : "";
}

/** For where the same schema stands close by. */
export function withoutSchema(error: MetaMcpError): MetaMcpError {
  const { inputSchema, ...details } = (error.context.details ?? {}) as { inputSchema?: unknown };
  if (error.code !== "validation_input" || inputSchema === undefined) return error;
  return error.with({ details, cause: undefined });
}

/** Arguments that do not fit a tool: which, and what it takes on one line. The schema itself is shown once, in the details, and only where it is not long. */
import { signatureOf } from "../catalog/signature.ts";
import { type Tool, toolId } from "../catalog/tool.ts";
import { type ErrorContext, MetaMcpError } from "../kernel/errors.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { members, withMember } from "../rpc/slice.ts";
import type { Scope } from "./scope.ts";

const LARGEST_SCHEMA = 8_000;
const LONGEST_SIGNATURE = 600;

/** Why they do not fit: the schema, as its server wrote it. */
class Schema extends Error {
  readonly raw: Raw;

  constructor(raw: Raw) {
    super("the input schema");
    this.raw = raw;
  }
}

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
  return new MetaMcpError("validation_input", shown ? text : `${text} Its schema of ${size} is not shown.`, {
    ...context,
    server,
    tool_id: toolId(tool),
    details: { problems, ...(shown && { inputSchema: fromRaw(inputSchema) }) },
    ...(shown && { cause: new Schema(inputSchema) }),
  });
}

/** The error, written down, with the schema as its server wrote it. */
export function withSchema(told: Raw, { context }: MetaMcpError): Raw {
  if (!(context.cause instanceof Schema)) return told;
  const [details] = members(told, ["details"]);
  return details ? withMember(told, "details", withMember(details, "inputSchema", context.cause.raw)) : told;
}

/** For where the same schema stands close by. */
export function withoutSchema(error: MetaMcpError): MetaMcpError {
  if (!(error.context.cause instanceof Schema)) return error;
  const { inputSchema: _, ...details } = error.context.details as { inputSchema?: unknown };
  return error.with({ details, cause: undefined });
}

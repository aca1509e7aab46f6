/**
 * Checks a chain against the schemas of its tools without running them. Starts servers whose tools are not
 * known.
 */
import { type ArgumentProblem, checkArguments, prepareCheck } from "../../catalog/check-arguments.ts";
import type { Tool } from "../../catalog/tool.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { member, members, withMember } from "../../rpc/slice.ts";
import { internalError } from "../failure.ts";
import { invalidArguments } from "../invalid-arguments.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import type { ChainOutcome } from "./chain-run.ts";
import type { StepOutcome } from "./execute.ts";
import { requireTool } from "./known-tool.ts";
import type { ChainPlan, Step } from "./plan.ts";
import type { Reference } from "./reference-values.ts";
import { withoutReferences } from "./references.ts";

const OP = "run_chain";

export async function dryRun(
  scope: Scope,
  { steps }: ChainPlan,
  request: ClientRequest,
): Promise<ChainOutcome> {
  const tools = await Promise.all(steps.map((step) => toolOf(scope, step, request)));
  const outcomes = await Promise.all(steps.map((step) => check(step, tools)));
  const failedAt = outcomes.findIndex(({ error }) => error);
  return { outcomes, failedAt: failedAt < 0 ? undefined : failedAt };
}

type ToolOrError = Tool | MetaMcpError;

async function toolOf(scope: Scope, { name, index }: Step, request: ClientRequest): Promise<ToolOrError> {
  try {
    return await requireTool(scope, name, request);
  } catch (error) {
    const context = { op: OP, server: name.server, tool_id: name.id, step_index: index };
    return (MetaMcpError.is(error) ? error : internalError(scope.log, error)).with(context);
  }
}

async function check(step: Step, tools: readonly ToolOrError[]): Promise<StepOutcome> {
  const tool = tools[step.index] as ToolOrError;
  if (MetaMcpError.is(tool)) return { durationMs: 0, error: tool };
  await prepareCheck(tool);
  const { args, references, usePrevious, index } = step;
  const bare = references.length > 0 ? withoutReferences(args) : args;
  const whole = usePrevious ? withMember(bare, "previous", toRaw(null)) : bare;
  const open = [...references.map(({ at }) => at), ...(usePrevious ? ["/previous"] : [])];
  const mismatches = checkArguments(tool, whole, open) ?? [];
  const problems = [
    ...mismatches,
    ...references.flatMap((reference) => missingPath(reference, tools[reference.step])),
  ];
  if (problems.length === 0) return { durationMs: 0 };
  return { durationMs: 0, error: invalidArguments(tool, problems, { op: OP, step_index: index }) };
}

/**
 * Reports a path only if the output schema of the earlier tool excludes it with `additionalProperties:
 * false`.
 */
function missingPath({ path, text }: Reference, from: ToolOrError | undefined): readonly ArgumentProblem[] {
  if (!from || MetaMcpError.is(from)) return [];
  let [schema] = members(from.definition, ["outputSchema"]) as (Raw | undefined)[];
  for (const key of path) {
    const [properties, more, type] = schema
      ? members(schema, ["properties", "additionalProperties", "type"])
      : [];
    if (!schema || !properties || type?.toString() !== '"object"') return [];
    const next = member(properties, key);
    if (!next && more?.toString() === "false")
      return [
        { argument: undefined, text: `${text} is not in the output schema of ${from.server}:${from.name}` },
      ];
    schema = next;
  }
  return [];
}

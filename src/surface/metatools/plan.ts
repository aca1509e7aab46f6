/**
 * Reads the arguments of run_chain into a plan. Checks everything that needs no server; with an error here,
 * no step runs.
 */
import { MetaMcpError } from "../../kernel/errors.ts";
import { EMPTY_OBJECT, fromRaw, type Raw } from "../../kernel/raw.ts";
import { elements } from "../../rpc/slice.ts";
import { readFields } from "../input.ts";
import { BadReference, type Reference } from "./reference-values.ts";
import { referencesIn } from "./references.ts";
import { splitId, type ToolName } from "./tool-id.ts";
import { MAX_STEPS, RUN_CHAIN, STEP } from "./tools.ts";

export interface Step {
  readonly index: number;
  readonly name: ToolName;
  readonly args: Raw;
  readonly usePrevious: boolean;
  readonly timeoutMs: number | undefined;
  readonly references: readonly Reference[];
  /** Indexes of the steps whose values it uses. */
  readonly needs: readonly number[];
}

export interface ChainPlan {
  readonly steps: readonly Step[];
  readonly continueOnError: boolean;
  readonly parallel: boolean;
  readonly dryRun: boolean;
  readonly includeBackends: boolean;
  readonly includeTools: boolean;
}

const OP = RUN_CHAIN.name;

export function planOf(input: ReadonlyMap<string, Raw>): ChainPlan {
  const written = elements(input.get("steps") as Raw, MAX_STEPS + 1);
  if (written.length === 0 || written.length > MAX_STEPS) {
    // The rest of a long list is not counted.
    const given = written.length === 0 ? "0" : "more";
    const told = `${OP}: steps must be a list of 1 to ${MAX_STEPS}, not ${given}.`;
    throw new MetaMcpError("validation_input", told, { op: OP });
  }
  const is = (key: string, wanted: string): boolean => input.get(key)?.toString() === wanted;
  return {
    steps: written.map(readStep),
    continueOnError: is("on_error", '"continue"'),
    parallel: is("parallel", "true"),
    dryRun: is("dry_run", "true"),
    includeBackends: is("include_backends", "true"),
    includeTools: is("include_tools", "true"),
  };
}

function readStep(written: Raw, index: number): Step {
  const context = { op: OP, step_index: index };
  const fields = readFields(STEP, written, { name: `${OP}: step ${index}`, context });
  const id = fromRaw(fields.get("tool_id") as Raw) as string;
  const args = fields.get("args") ?? EMPTY_OBJECT;
  const timeout = fields.get("timeout_ms");
  const invalid = (problem: string): MetaMcpError =>
    new MetaMcpError("validation_input", `${OP}: step ${index}: ${problem}.`, { ...context, tool_id: id });
  const references = referencesOf(args, invalid);
  for (const { step, text } of references)
    if (step >= index) throw invalid(`${text} does not refer to an earlier step`);
  // The first step has no previous step.
  const usePrevious = index > 0 && fields.get("use_previous")?.toString() === "true";
  return {
    index,
    name: nameOf(id, context),
    args,
    usePrevious,
    timeoutMs: timeout && (fromRaw(timeout) as number),
    references,
    needs: [...new Set([...references.map(({ step }) => step), ...(usePrevious ? [index - 1] : [])])],
  };
}

function nameOf(id: string, context: object): ToolName {
  try {
    return splitId(id);
  } catch (error) {
    throw MetaMcpError.is(error) ? error.with(context) : error;
  }
}

function referencesOf(args: Raw, invalid: (problem: string) => MetaMcpError): readonly Reference[] {
  try {
    return referencesIn(args);
  } catch (error) {
    throw error instanceof BadReference ? invalid(error.message) : error;
  }
}

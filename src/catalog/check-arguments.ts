/**
 * Checks arguments against a tool's input schema, so that a model gets a clear error early. The child decides
 * in the end, so doubtful cases pass.
 */
import type { ErrorObject } from "ajv";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { SHORT } from "../rpc/short.ts";
import { compileInputSchema } from "./bounded-schema.ts";
import { withOptionalDefaults } from "./optional-defaults.ts";
import { quickCheckOf } from "./quick-check.ts";
import { summarize } from "./summary.ts";
import type { Tool } from "./tool.ts";

export interface ArgumentProblem {
  /** The argument that it is about, or that is missing; undefined if it is about all of them. */
  readonly argument: string | undefined;
  readonly text: string;
}

type Check = (args: Raw, open?: readonly string[]) => readonly ArgumentProblem[];

const MAX_PROBLEMS = 10;
const MAX_PROBLEM_LENGTH = 400;

const NO_PROBLEMS: readonly ArgumentProblem[] = [];
const fits: Check = () => NO_PROBLEMS;
const compiled = new WeakMap<Tool, Check>();
const compiling = new WeakMap<Tool, Promise<void>>();

/**
 * The problems; empty if the arguments are valid or cannot be checked. Undefined until the schema is
 * prepared. `open`: JSON Pointers to values that are not known yet; these are not checked.
 */
export function checkArguments(
  tool: Tool,
  args: Raw,
  open?: readonly string[],
): readonly ArgumentProblem[] | undefined {
  return compiled.get(tool)?.(args, open);
}

/** Compiles the schema of a tool once. If it cannot be compiled, all arguments pass. */
export function prepareCheck(tool: Tool): Promise<void> {
  let prepared = compiling.get(tool);
  if (!prepared) {
    prepared = compile(tool)
      .catch(() => fits)
      .then((check) => void compiled.set(tool, check));
    compiling.set(tool, prepared);
  }
  return prepared;
}

async function compile(tool: Tool): Promise<Check> {
  const check = await compileInputSchema(tool.inputSchema);
  if (!check) return fits;
  const schema = fromRaw(tool.inputSchema) as Record<string, unknown>;
  const quickCheck = quickCheckOf(withOptionalDefaults(schema));
  return (args, open) => {
    // Parsing short arguments is faster than the quick check.
    if (args.length > SHORT && quickCheck?.(args)) return NO_PROBLEMS;
    try {
      const found = check(args);
      if (found.length === 0) return NO_PROBLEMS;
      const errors = open ? certain(found, open) : found;
      return errors.slice(0, MAX_PROBLEMS).map(problemOf);
    } catch {
      return NO_PROBLEMS;
    }
  };
}

const CHOICE_KEYWORDS: ReadonlySet<string> = new Set([
  "anyOf",
  "oneOf",
  "not",
  "if",
  "contains",
  "uniqueItems",
]);

/** The errors that remain for any values at the open places. */
function certain(errors: readonly ErrorObject[], open: readonly string[]): readonly ErrorObject[] {
  const within = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);
  // A choice that contains an open place may still succeed, so errors in its branches do not count either.
  const choices = errors
    .filter(
      ({ keyword, instancePath: at }) =>
        CHOICE_KEYWORDS.has(keyword) && open.some((place) => within(place, at)),
    )
    .map(({ schemaPath }) => schemaPath);
  const inBranch = (path: string): boolean =>
    choices.some((choice) => path.startsWith(choice)) ||
    (choices.length > 0 && /^#\/(\$defs|definitions)\//.test(path));
  return errors.filter(
    ({ instancePath, schemaPath }) =>
      !open.some((place) => within(instancePath, place)) && !inBranch(schemaPath),
  );
}

function problemOf(error: ErrorObject): ArgumentProblem {
  const { missingProperty } = error.params as { missingProperty?: string };
  const [, first = missingProperty] = error.instancePath.split("/", 2);
  return {
    argument: first?.replaceAll("~1", "/").replaceAll("~0", "~"),
    text: summarize(inWords(error), MAX_PROBLEM_LENGTH),
  };
}

export function inWords(error: ErrorObject): string {
  const where =
    error.instancePath === "" ? "the arguments" : error.instancePath.slice(1).replaceAll("/", ".");
  const { additionalProperty, allowedValues } = error.params as {
    additionalProperty?: string;
    allowedValues?: unknown[];
  };
  if (additionalProperty !== undefined) return `${where} must not have "${additionalProperty}"`;
  if (allowedValues) return `${where} must be one of ${JSON.stringify(allowedValues).slice(0, 300)}`;
  return `${where} ${error.message}`;
}

/** Whether arguments fit a tool's input schema. A courtesy to the model: the child stays the judge, so doubt means yes. */
import type { ErrorObject } from "ajv";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { SHORT } from "../rpc/short.ts";
import { compileSchema } from "./bounded-schema.ts";
import { glanceOf } from "./glance.ts";
import { summarize } from "./summary.ts";
import type { Tool } from "./tool.ts";

type Check = (args: Raw, open?: readonly string[]) => readonly string[];

const MOST_PROBLEMS = 10;
const LONGEST_PROBLEM = 400;

const NOTHING: readonly string[] = [];
const fits: Check = () => NOTHING;
const compiled = new WeakMap<Tool, Check>();
const compiling = new WeakMap<Tool, Promise<void>>();

/**
 * What is wrong, in words; empty if it fits or cannot be told. Undefined while the schema is not prepared.
 * `open`: JSON Pointers to places where the value is not known yet, which are not judged.
 */
export function checkArguments(
  tool: Tool,
  args: Raw,
  open?: readonly string[],
): readonly string[] | undefined {
  return compiled.get(tool)?.(args, open);
}

/** Compiles the schema of a tool, once, however many wait for it. What cannot be compiled is not checked. */
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
  const schema = fromRaw(tool.inputSchema) as Record<string, unknown>;
  const check = await compileSchema(tool.inputSchema);
  if (!check) return fits;
  const glance = glanceOf(schema);
  return (args, open) => {
    // What is short is parsed sooner than looked through.
    if (args.length > SHORT && glance?.(args)) return NOTHING;
    try {
      const found = check(args);
      if (found.length === 0) return NOTHING;
      const errors = open ? certain(found, open) : found;
      return errors.slice(0, MOST_PROBLEMS).map((error) => summarize(inWords(error), LONGEST_PROBLEM));
    } catch {
      return NOTHING;
    }
  };
}

const CHOICES: ReadonlySet<string> = new Set(["anyOf", "oneOf", "not", "if", "contains", "uniqueItems"]);

/** Those that hold whatever stands at the open places. */
function certain(errors: readonly ErrorObject[], open: readonly string[]): readonly ErrorObject[] {
  const within = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);
  // A choice that an open place has part in may turn out well, and with it whatever was wrong in its branches.
  const choices = errors
    .filter(
      ({ keyword, instancePath: at }) => CHOICES.has(keyword) && open.some((place) => within(place, at)),
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

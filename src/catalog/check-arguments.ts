/** Whether arguments fit a tool's input schema. A courtesy to the model: the child stays the judge, so doubt means yes. */
import type { Ajv as Compiler, ErrorObject, ValidateFunction } from "ajv";
import { fromRaw, type Raw } from "../kernel/raw.ts";
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
  const validate = await compileSchema(schema, tool.inputSchema.includes('"$id"'));
  const glance = glanceOf(schema);
  return (args, open) => {
    if (glance?.(args)) return NOTHING;
    try {
      if (validate(fromRaw(args))) return NOTHING;
      const errors = open ? certain(validate.errors ?? [], open) : (validate.errors ?? []);
      return errors.slice(0, MOST_PROBLEMS).map((error) => summarize(inWords(error), LONGEST_PROBLEM));
    } catch {
      return NOTHING;
    }
  };
}

type Dialect = "draft-07" | "2020-12";

/** Making one takes many times as long as compiling with it. */
const compilers = new Map<Dialect, Promise<Compiler>>();

/** Bounded in time, whatever patterns are in it: what could take long throws. `named`: it has an `$id` somewhere. */
export async function compileSchema(
  schema: Record<string, unknown>,
  named: boolean,
): Promise<ValidateFunction> {
  const { $schema } = schema;
  // Without $schema MCP means 2020-12; what says draft-07 (or 04, 06, which mostly compile as such) gets that.
  const draft = typeof $schema === "string" && /draft-0[4-7]/.test($schema);
  const dialect = draft ? "draft-07" : "2020-12";
  // A compiler remembers names: one server's must not mean anything in another's.
  if (named) return (await makeCompiler(dialect)).compile(schema);
  const compiler = compilers.get(dialect) ?? makeCompiler(dialect);
  compilers.set(dialect, compiler);
  const ajv = await compiler;
  try {
    return ajv.compile(schema);
  } finally {
    ajv.removeSchema(schema);
  }
}

async function makeCompiler(dialect: Dialect): Promise<Compiler> {
  const { default: Ajv } = dialect === "draft-07" ? await import("ajv") : await import("ajv/dist/2020.js");
  return new Ajv.default({
    strict: false,
    allErrors: true,
    validateFormats: false,
    logger: false,
    addUsedSchema: false,
    // Or a property of the name "constructor" would always be there.
    ownProperties: true,
    code: { regExp: boundedRegExp },
  });
}

/**
 * A pattern from outside must not be able to hang us: where backtracking could grow much beyond a square, it throws, and
 * nothing is checked. To say that it matches would refuse arguments under `not` and `patternProperties`.
 */
function boundedRegExp(pattern: string, flags: string) {
  const repeats = pattern.match(/[*+]|\{\d+,/g)?.length ?? 0;
  // Each of these can double the work.
  const choices = pattern.match(/[?(]/g)?.length ?? 0;
  if (pattern.length > 500 || repeats > 2 || choices > 6 || /\)[*+{?]|\\[1-9k]|\(\?[=!<]/.test(pattern))
    throw new Error("a pattern that could take for ever");
  const expression = new RegExp(pattern, flags);
  return {
    test(text: string): boolean {
      if (text.length > 1000) throw new Error("a text that could take for ever");
      return expression.test(text);
    },
    // What tells it from the other patterns of the schema.
    toString: () => expression.toString(),
  };
}
boundedRegExp.code = "undefined";

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

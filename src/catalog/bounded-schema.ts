/**
 * JSON Schemas of strangers, and values of strangers against them, in bounded time. Few words can mean a lot of work:
 * references double it, patterns go back and forth, and lists are compared with themselves.
 */
import type { Ajv as Compiler, ErrorObject, ValidateFunction } from "ajv";
import { isRecord } from "../kernel/is-record.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { hasManyValues } from "../rpc/many-values.ts";
import { withinTime } from "./within-time.ts";

/** What is wrong with a value; none where it fits. Throws where that cannot be told in time. */
export type ValueCheck = (value: Raw) => readonly ErrorObject[];

const NONE: readonly ErrorObject[] = [];
/** Schemas and values up to this many bytes take no time that is worth a watch. */
const SMALL = 16_384;
const MOST_WORK = 1_000;
const COMPILE_MS = 500;
const CHECK_MS = 250;

type Dialect = "draft-07" | "2020-12";

/** Making one takes many times as long as compiling with it. */
const compilers = new Map<Dialect, Promise<Compiler>>();

/** Throws where the schema cannot be used, or not in bounded time. Undefined: what is no object refuses nothing. */
export async function compileSchema(written: Raw): Promise<ValueCheck | undefined> {
  if (hasManyValues(written)) throw new Error("a schema that could take for ever");
  const schema = fromRaw(written);
  if (!isRecord(schema)) return undefined;
  const { $schema } = schema;
  // Without $schema MCP means 2020-12; what says draft-07 (or 04, 06, which mostly compile as such) gets that.
  const draft = typeof $schema === "string" && /draft-0[4-7]/.test($schema);
  const validate = await compiled({ ...schema }, draft ? "draft-07" : "2020-12", written);
  const light = workOf(schema) <= MOST_WORK;
  return (value) => {
    if (hasManyValues(value)) throw new Error("a value that could take for ever");
    const parsed = fromRaw(value);
    const fits =
      light && value.length <= SMALL ? validate(parsed) : withinTime(CHECK_MS, () => validate(parsed));
    return fits ? NONE : (validate.errors ?? NONE);
  };
}

async function compiled(
  schema: Record<string, unknown>,
  dialect: Dialect,
  written: Raw,
): Promise<ValidateFunction> {
  // A compiler remembers names: one server's must not mean anything in another's. Nor is one used again that was interrupted.
  const alone = written.includes('"$id"') || written.length > SMALL;
  const compiler = alone ? makeCompiler(dialect) : (compilers.get(dialect) ?? makeCompiler(dialect));
  if (!alone) compilers.set(dialect, compiler);
  const ajv = await compiler;
  try {
    return written.length > SMALL ? withinTime(COMPILE_MS, () => ajv.compile(schema)) : ajv.compile(schema);
  } finally {
    if (!alone) ajv.removeSchema(schema);
  }
}

async function makeCompiler(dialect: Dialect): Promise<Compiler> {
  const { default: Ajv } = dialect === "draft-07" ? await import("ajv") : await import("ajv/dist/2020.js");
  return new Ajv.default({
    strict: false,
    allErrors: true,
    validateFormats: false,
    logger: false,
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
  // Each choice can double the work.
  const choices = pattern.match(/[?(]/g)?.length ?? 0;
  if (
    pattern.length > 500 ||
    repeatsIn(pattern) > 2 ||
    choices > 6 ||
    /\)[*+{?]|\\[1-9k]|\(\?[=!<]/.test(pattern)
  )
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

function repeatsIn(pattern: string): number {
  return pattern.match(/[*+]|\{\d+,/g)?.length ?? 0;
}

/** How many parts of a schema look at a value, references followed; infinite where nobody can say. */
function workOf(root: Readonly<Record<string, unknown>>): number {
  const known = new Map<string, number>();
  const followed = (ref: unknown): number => {
    if (typeof ref !== "string") return Number.POSITIVE_INFINITY;
    const before = known.get(ref);
    if (before !== undefined) return before;
    // Until it is known: whoever comes back to it goes round in circles.
    known.set(ref, Number.POSITIVE_INFINITY);
    const work = workAt(targetOf(root, ref));
    known.set(ref, work);
    return work;
  };
  const workAt = (part: unknown): number => {
    if (part === undefined) return Number.POSITIVE_INFINITY;
    if (Array.isArray(part)) return part.reduce<number>((sum, one) => sum + workAt(one), 0);
    if (!isRecord(part)) return 0;
    let work = 1;
    for (const [word, value] of Object.entries(part)) {
      if (word === "$defs" || word === "definitions") continue;
      if (/^\$\w*[rR]ef$/.test(word)) work += followed(value);
      else if (word === "uniqueItems" && value === true) return Number.POSITIVE_INFINITY;
      else if (word === "pattern" && typeof value === "string" && repeatsIn(value) > 1)
        return Number.POSITIVE_INFINITY;
      else if (word === "patternProperties") return Number.POSITIVE_INFINITY;
      else work += workAt(value);
    }
    return work;
  };
  return workAt(root);
}

/** Undefined where it leads nowhere that can be told by its text alone. */
function targetOf(root: Readonly<Record<string, unknown>>, ref: string): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = (isRecord(at) || Array.isArray(at)) && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
  }
  return at;
}

/**
 * Compiles untrusted JSON Schemas and checks untrusted values in bounded time. A short schema can cause much
 * work: nested references double it, patterns backtrack, and `uniqueItems` compares all pairs.
 */
import type { Ajv as Compiler, ErrorObject, ValidateFunction } from "ajv";
import { isRecord } from "../kernel/is-record.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { hasManyValues } from "../rpc/many-values.ts";
import { withOptionalDefaults } from "./optional-defaults.ts";
import { targetOf } from "./schema-pointer.ts";
import { withinTime } from "./within-time.ts";

/** Returns the errors of a value; empty if it is valid. Throws if the check would take too long. */
export type ValueCheck = (value: Raw) => readonly ErrorObject[];

const NO_ERRORS: readonly ErrorObject[] = [];
/** Up to this size, schemas and values are handled without a time limit, which costs time itself. */
const SMALL_BYTES = 16_384;
const MAX_WORK = 1_000;
const COMPILE_MS = 500;
const CHECK_MS = 250;

type Dialect = "draft-07" | "2020-12";

/** Shared, because creating a compiler takes many times as long as compiling a schema. */
const compilers = new Map<Dialect, Promise<Compiler>>();

/**
 * For values that are sent to a server: properties with a default may be missing. Throws if the schema is
 * invalid or cannot be handled in bounded time. Undefined if it is not an object: it then accepts everything.
 */
export async function compileInputSchema(written: Raw): Promise<ValueCheck | undefined> {
  const schema = parsed(written);
  return schema && (await compileParsed(withOptionalDefaults(schema), written));
}

/** Like `compileInputSchema`, for values that a server sent: nobody adds defaults to these. */
export async function compileOutputSchema(written: Raw): Promise<ValueCheck | undefined> {
  const schema = parsed(written);
  return schema && (await compileParsed(schema, written));
}

function parsed(written: Raw): Record<string, unknown> | undefined {
  if (hasManyValues(written)) throw new Error("a schema that could take for ever");
  const schema = fromRaw(written);
  return isRecord(schema) ? schema : undefined;
}

async function compileParsed(schema: Record<string, unknown>, written: Raw): Promise<ValueCheck> {
  const { $schema } = schema;
  // Without $schema, MCP means 2020-12. draft-04 and draft-06 schemas mostly compile as draft-07.
  const draft = typeof $schema === "string" && /draft-0[4-7]/.test($schema);
  const validate = await compiled(schema, draft ? "draft-07" : "2020-12", written);
  const cheap = workOf(schema) <= MAX_WORK;
  return (value) => {
    if (hasManyValues(value)) throw new Error("a value that could take for ever");
    const data = fromRaw(value);
    const fits =
      cheap && value.length <= SMALL_BYTES ? validate(data) : withinTime(CHECK_MS, () => validate(data));
    return fits ? NO_ERRORS : (validate.errors ?? NO_ERRORS);
  };
}

async function compiled(
  schema: Record<string, unknown>,
  dialect: Dialect,
  written: Raw,
): Promise<ValidateFunction> {
  // A compiler remembers `$id`s, and those of one server must not affect another. An interrupted compiler may
  // be broken. Both cases get their own compiler.
  const alone = written.includes('"$id"') || written.length > SMALL_BYTES;
  const compiler = alone ? makeCompiler(dialect) : (compilers.get(dialect) ?? makeCompiler(dialect));
  if (!alone) compilers.set(dialect, compiler);
  const ajv = await compiler;
  try {
    return written.length > SMALL_BYTES
      ? withinTime(COMPILE_MS, () => ajv.compile(schema))
      : ajv.compile(schema);
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
    // Otherwise a property named "constructor" would always exist.
    ownProperties: true,
    code: { regExp: boundedRegExp },
  });
}

/**
 * An untrusted pattern must not hang the process. If backtracking could grow much faster than quadratically,
 * this throws and the arguments are not checked. Pretending a match would reject valid arguments under `not`
 * and `patternProperties`.
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
    // Ajv uses this text to tell the patterns of a schema apart.
    toString: () => expression.toString(),
  };
}
boundedRegExp.code = "undefined";

function repeatsIn(pattern: string): number {
  return pattern.match(/[*+]|\{\d+,/g)?.length ?? 0;
}

/**
 * The number of schema parts that check a value, with references followed; infinite if it cannot be computed.
 */
function workOf(root: Readonly<Record<string, unknown>>): number {
  const known = new Map<string, number>();
  const followed = (ref: unknown): number => {
    if (typeof ref !== "string") return Number.POSITIVE_INFINITY;
    const before = known.get(ref);
    if (before !== undefined) return before;
    // Infinite while it is being computed: a reference that leads back here is circular.
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

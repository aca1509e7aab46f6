/**
 * Checks input against the schemas, and describes problems in words with their place. The validator is loaded
 * on first use.
 */
import type { ErrorObject, ValidateFunction } from "ajv";
import { type FieldProblem, pointer } from "../kernel/field-problem.ts";
import type { Schema } from "../kernel/json-schema.ts";
import { didYouMean } from "../kernel/nearest.ts";
import { perObject } from "../kernel/per-object.ts";
import type { ObjectKind } from "./objects.ts";
import { SCHEMAS } from "./schemas.ts";

const MAX_PROBLEMS = 50;

/** A copy with defaults filled in, or the problems. */
export type Checked = { readonly value: Readonly<Record<string, unknown>> } | readonly FieldProblem[];
export type SchemaCheck = (kind: ObjectKind, value: unknown) => Checked;
/** Compiles each schema once. */
export type Validator = (schema: Schema, value: unknown) => Checked;

export async function loadSchemaCheck(): Promise<SchemaCheck> {
  const validate = await loadValidator();
  return (kind, value) => validate(SCHEMAS[kind], value);
}

export async function loadValidator(): Promise<Validator> {
  const { default: Ajv } = await import("ajv/dist/2020.js");
  const ajv = new Ajv.default({
    allErrors: true,
    allowUnionTypes: true,
    strictTypes: false,
    useDefaults: true,
    verbose: true,
    ownProperties: true,
    logger: false,
    // Schemas come from us or from a layer of the administrator. Ajv refuses keywords with wrong values also
    // without its check by a schema of schemas, which takes longer than everything else in the first request.
    validateSchema: false,
    code: { optimize: false },
  });
  const compile = perObject((schema: Schema): ValidateFunction => ajv.compile(schema));
  return (schema, value) => {
    const validate = compile(schema);
    const copy: unknown = structuredClone(value);
    if (validate(copy)) return { value: copy as Readonly<Record<string, unknown>> };
    return problemsOf(validate.errors ?? []);
  };
}

function problemsOf(errors: readonly ErrorObject[]): readonly FieldProblem[] {
  // One message for a whole anyOf or oneOf is enough; messages about its branches confuse.
  // A set, because every item of a long array may repeat the same choice.
  const choices = new Set(
    errors.flatMap(({ keyword, schemaPath }) => (keyword === "anyOf" ? [`${schemaPath}/`] : [])),
  );
  const isBranch = (path: string): boolean => [...choices].some((choice) => path.startsWith(choice));
  const told = errors.filter(
    ({ keyword, schemaPath }) => keyword !== "propertyNames" && !isBranch(schemaPath),
  );
  const problems = new Map<string, FieldProblem>();
  for (const problem of told.slice(0, MAX_PROBLEMS).map(problemOf))
    if (!problems.has(problem.path)) problems.set(problem.path, problem);
  return [...problems.values()];
}

function problemOf(error: ErrorObject): FieldProblem {
  const { instancePath: at, keyword, params, propertyName, message = "is invalid" } = error;
  const parent = error.parentSchema as Schema | undefined;
  const { description } = parent ?? {};
  const said = typeof description === "string" ? description : undefined;
  if (propertyName !== undefined)
    return { path: pointer(at, propertyName), message: `must be ${said ?? "another name"}` };
  if (keyword === "additionalProperties") {
    const name = String(params["additionalProperty"]);
    const known = Object.keys((parent?.["properties"] ?? {}) as object);
    return { path: pointer(at, name), message: `is unknown.${didYouMean(name, known)}` };
  }
  if (keyword === "required")
    return { path: pointer(at, String(params["missingProperty"])), message: "is required" };
  if (keyword === "minItems" || keyword === "minProperties")
    return { path: at, message: `must have ${String(params["limit"])} at least` };
  if (keyword === "maxItems")
    return { path: at, message: `may have ${String(params["limit"])} entries at most` };
  if (keyword === "enum")
    return { path: at, message: `must be one of ${JSON.stringify(params["allowedValues"])}` };
  // In a PATCH null removes a field, so many send it in a POST too.
  if (keyword === "type" && error.data === null) return { path: at, message: "is null: leave the field out" };
  return { path: at, message: said === undefined ? message : `must be ${said}` };
}

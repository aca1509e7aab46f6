/** Arguments and results against the schemas of the tool, strictly: what cannot be judged does not pass. */
import type { ValidateFunction } from "ajv";
import { compileSchema, inWords } from "../../catalog/check-arguments.ts";
import type { Call } from "../../kernel/call.ts";
import { type ErrorCode, MetaMcpError } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { EMPTY_OBJECT, fromRaw, type Raw } from "../../kernel/raw.ts";
import { members } from "../../rpc/slice.ts";
import type { LayerKind } from "../layer.ts";
import { toolOf } from "../refusals.ts";

const MOST_PROBLEMS = 10;
const LONGEST_PROBLEM = 300;

interface Schemas {
  readonly input: ValidateFunction | undefined;
  readonly output: ValidateFunction | undefined;
}

export const validate: LayerKind = {
  summary: "Check arguments and results against the schemas of the tool.",
  schema: {
    properties: {
      input: { type: "boolean", default: true },
      output: { type: "boolean", default: true },
    },
  },
  compile({ input, output }) {
    return {
      async explain(call) {
        if (call.method === "tools/call" && input) checkInput(call, await schemasOf(call));
        return undefined;
      },
      call: (next) => async (call) => {
        if (call.method !== "tools/call" || (!input && !output)) return await next(call);
        const schemas = await schemasOf(call);
        if (input) checkInput(call, schemas);
        const result = await next(call);
        if (output) checkOutput(call, schemas, result);
        return result;
      },
    };
  },
};

const compiled = new WeakMap<Raw, Promise<Schemas>>();

async function schemasOf(call: Call): Promise<Schemas> {
  const definition = call.facts?.definition;
  if (!definition) throw refusal(call, "validation_input", ["the schema of the tool is not known"]);
  let schemas = compiled.get(definition);
  if (!schemas) {
    schemas = compileBoth(definition);
    compiled.set(definition, schemas);
  }
  try {
    return await schemas;
  } catch {
    throw refusal(call, "validation_input", ["a schema of the tool cannot be used"]);
  }
}

async function compileBoth(definition: Raw): Promise<Schemas> {
  const [input, output] = members(definition, ["inputSchema", "outputSchema"]);
  return { input: input && (await compileOne(input)), output: output && (await compileOne(output)) };
}

async function compileOne(schema: Raw): Promise<ValidateFunction | undefined> {
  const value = fromRaw(schema);
  return isRecord(value) ? await compileSchema({ ...value }, schema.includes('"$id"')) : undefined;
}

function checkInput(call: Call, { input }: Schemas): void {
  const [args = EMPTY_OBJECT] = members(call.params, ["arguments"]);
  const problems = input ? problemsOf(input, fromRaw(args)) : [];
  if (problems.length > 0) throw refusal(call, "validation_input", problems);
}

/** A failed tool owes nothing to its schema. */
function checkOutput(call: Call, { output }: Schemas, result: Raw): void {
  if (!output) return;
  const [isError, structured] = members(result, ["isError", "structuredContent"]);
  if (isError?.toString() === "true") return;
  const problems = structured
    ? problemsOf(output, fromRaw(structured))
    : ["it has no structuredContent, and its tool promises one"];
  if (problems.length > 0) throw refusal(call, "validation_output", problems);
}

function problemsOf(check: ValidateFunction, value: unknown): readonly string[] {
  if (check(value)) return [];
  return (check.errors ?? [])
    .slice(0, MOST_PROBLEMS)
    .map((error) => inWords(error).slice(0, LONGEST_PROBLEM));
}

function refusal(call: Call, code: ErrorCode, problems: readonly string[]): MetaMcpError {
  const what = code === "validation_input" ? "The arguments do" : "The result does";
  return new MetaMcpError(code, `${what} not fit ${toolOf(call)}: ${problems.join("; ")}.`, {
    ...(call.facts ? { server: call.facts.server } : {}),
    details: { problems },
  });
}

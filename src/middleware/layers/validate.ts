/**
 * Layer `validate`: checks arguments and results against the schemas of the tool. Refuses calls whose schema
 * is unknown or cannot be checked.
 */
import { compileInputSchema, compileOutputSchema, type ValueCheck } from "../../catalog/bounded-schema.ts";
import { inWords } from "../../catalog/check-arguments.ts";
import type { Call } from "../../kernel/call.ts";
import { type ErrorCode, MetaMcpError } from "../../kernel/errors.ts";
import { EMPTY_OBJECT, type Raw } from "../../kernel/raw.ts";
import { member, members } from "../../rpc/slice.ts";
import type { LayerKind } from "../layer.ts";
import { toolOf } from "../refusals.ts";

const MAX_PROBLEMS = 10;
const LONGEST_PROBLEM = 300;

interface Schemas {
  readonly input: ValueCheck | undefined;
  readonly output: ValueCheck | undefined;
}

export const validate: LayerKind = {
  summary: "Check arguments and results against the schemas of the tool.",
  schema: {
    properties: {
      input: { type: "boolean", default: true, description: "check arguments" },
      output: { type: "boolean", default: true, description: "check results" },
    },
  },
  compile({ input, output }) {
    return {
      async explain(call) {
        if (call.method === "tools/call" && input) checkInput(call, await schemasOf(call));
        return undefined;
      },
      call: (next) => (call) => {
        if (call.method !== "tools/call" || (!input && !output)) return next(call);
        const pass = (schemas: Schemas): Promise<Raw> => {
          if (input) checkInput(call, schemas);
          if (!output || !schemas.output) return next(call);
          return next(call).then((result) => {
            checkOutput(call, schemas, result);
            return result;
          });
        };
        const schemas = schemasOf(call);
        return schemas instanceof Promise ? schemas.then(pass) : pass(schemas);
      },
    };
  },
};

/**
 * By definition of the tool. Holds a promise until the schemas are compiled, so that later calls do not wait.
 */
const compiled = new WeakMap<Raw, Schemas | Promise<Schemas>>();

function schemasOf(call: Call): Schemas | Promise<Schemas> {
  const definition = call.facts?.definition;
  if (!definition) throw refusal(call, "validation_input", ["the schema of the tool is not known"]);
  let schemas = compiled.get(definition);
  if (!schemas) {
    schemas = compileBoth(definition);
    compiled.set(definition, schemas);
  }
  if (!(schemas instanceof Promise)) return schemas;
  return schemas.catch(() => {
    throw refusal(call, "validation_input", ["a schema of the tool cannot be used"]);
  });
}

async function compileBoth(definition: Raw): Promise<Schemas> {
  const [input, output] = members(definition, ["inputSchema", "outputSchema"]);
  const schemas = {
    input: input && (await compileInputSchema(input)),
    output: output && (await compileOutputSchema(output)),
  };
  compiled.set(definition, schemas);
  return schemas;
}

function checkInput(call: Call, { input }: Schemas): void {
  const args = member(call.params, "arguments") ?? EMPTY_OBJECT;
  const problems = input ? problemsOf(input, args) : [];
  if (problems.length > 0) throw refusal(call, "validation_input", problems);
}

/** Results with `isError` are not checked. */
function checkOutput(call: Call, { output }: Schemas, result: Raw): void {
  if (!output) return;
  const [isError, structured] = members(result, ["isError", "structuredContent"]);
  if (isError?.toString() === "true") return;
  const problems = structured
    ? problemsOf(output, structured)
    : ["it has no structuredContent, but its tool declares an output schema"];
  if (problems.length > 0) throw refusal(call, "validation_output", problems);
}

function problemsOf(check: ValueCheck, value: Raw): readonly string[] {
  try {
    return check(value)
      .slice(0, MAX_PROBLEMS)
      .map((error) => inWords(error).slice(0, LONGEST_PROBLEM));
  } catch {
    return ["it is too large or takes too long to check"];
  }
}

function refusal(call: Call, code: ErrorCode, problems: readonly string[]): MetaMcpError {
  const what = code === "validation_input" ? "The arguments do" : "The result does";
  return new MetaMcpError(code, `${what} not match ${toolOf(call)}: ${problems.join("; ")}.`, {
    ...(call.facts ? { server: call.facts.server } : {}),
    details: { problems },
  });
}

/** Reads the arguments of our own tools. Unknown fields and wrong types are errors that a model can mend; null means not given. */
import { MetaMcpError } from "../../kernel/errors.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { entries, isObject } from "../../rpc/slice.ts";

interface Property {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
}

interface OwnTool {
  readonly name: string;
  readonly inputSchema: {
    readonly properties: Readonly<Record<string, Property>>;
    readonly required?: readonly string[];
  };
}

/** The arguments as written, by name. */
export function readInput(tool: OwnTool, args: Raw | undefined): ReadonlyMap<string, Raw> {
  if (args && !isNull(args) && !isObject(args)) throw misfit(tool, "the arguments must be an object");
  const given = new Map(args ? entries(args) : []);
  const { properties, required = [] } = tool.inputSchema;
  for (const [key, value] of given) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (!property) throw misfit(tool, `there is no "${key}"; it takes ${Object.keys(properties).join(", ")}`);
    // Models that must fill in every field write null for what they do not mean.
    if (isNull(value)) {
      given.delete(key);
      continue;
    }
    const problem = wrongWith(property, value);
    if (problem) throw misfit(tool, `"${key}" ${problem}`);
  }
  for (const key of required) if (!given.has(key)) throw misfit(tool, `"${key}" is missing`);
  return given;
}

function wrongWith(property: Property, value: Raw): string | undefined {
  // Objects are not looked into here, so they are not parsed either.
  if (property.type === "object") return isObject(value) ? undefined : "must be an object";
  const parsed = fromRaw(value);
  if (property.enum) {
    return property.enum.includes(parsed as string)
      ? undefined
      : `must be one of ${property.enum.join(", ")}`;
  }
  if (property.type === "integer") {
    const fits =
      Number.isInteger(parsed) && (parsed as number) >= (property.minimum ?? Number.NEGATIVE_INFINITY);
    return fits ? undefined : "must be a whole number of at least 1";
  }
  return typeof parsed === property.type ? undefined : `must be a ${property.type}`;
}

function isNull(value: Raw): boolean {
  return value[0] === 0x6e;
}

function misfit(tool: OwnTool, problem: string): MetaMcpError {
  return new MetaMcpError("validation_input", `${tool.name}: ${problem}.`, { op: tool.name });
}

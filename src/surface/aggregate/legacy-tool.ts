/**
 * A tool definition in the form of the protocol up to 2025-11-25. Newer servers may describe any JSON value
 * as their output and write a schema as `true`; clients of that time refuse the whole list then.
 */
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { entries, isObject, joinObject, member, withMember } from "../../rpc/slice.ts";

const OBJECT = toRaw("object");
const AS_OBJECT: Readonly<Record<string, Raw>> = { true: toRaw({}), false: toRaw({ not: {} }) };

/** Returns the same object if nothing has to change. */
export function legacyTool(definition: Raw): Raw {
  const [input, output] = [member(definition, "inputSchema"), member(definition, "outputSchema")];
  const legacyInput = input && withObjectSchemas(input);
  const legacyOutput = output && withObjectSchemas(output);
  const shownOutput = legacyOutput && asObjectSchema(legacyOutput);
  let legacy = definition;
  if (legacyInput !== input) legacy = withMember(legacy, "inputSchema", legacyInput);
  if (shownOutput !== output) legacy = withMember(legacy, "outputSchema", shownOutput);
  return legacy;
}

/** Undefined if the schema describes something else than an object. */
function asObjectSchema(schema: Raw): Raw | undefined {
  const type = member(schema, "type");
  if (!type) return withMember(schema, "type", OBJECT);
  return fromRaw(type) === "object" ? schema : undefined;
}

function withObjectSchemas(schema: Raw): Raw {
  const properties = isObject(schema) ? member(schema, "properties") : undefined;
  if (!properties || !isObject(properties)) return schema;
  const written = entries(properties);
  if (written.every(([, property]) => isObject(property))) return schema;
  const objects = written.map(([key, property]): [string, Raw] => [
    key,
    isObject(property) ? property : (AS_OBJECT[property.toString()] ?? property),
  ]);
  return withMember(schema, "properties", joinObject(objects));
}

// Generates types for openapi-fetch (`paths`) from an OpenAPI 3.1 description. Supports only what the
// descriptions of our endpoints use. usage: node scripts/openapi-types.mjs DESCRIPTION.json > api.d.ts
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const NAMES = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" };
const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const union = (types) => [...new Set(types)].join(" | ") || "never";

function typeOf(schema) {
  if (typeof schema !== "object" || schema === null) return "unknown";
  const { $ref, const: constant, enum: choices, anyOf, oneOf, allOf, type } = schema;
  if ($ref) return referencedType($ref);
  if ("const" in schema) return JSON.stringify(constant);
  if (choices) return union(choices.map((choice) => JSON.stringify(choice)));
  if (anyOf ?? oneOf) return union((anyOf ?? oneOf).map((one) => `(${typeOf(one)})`));
  if (allOf) return allOf.map((one) => `(${typeOf(one)})`).join(" & ");
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one })));
  if (type === "array") return `(${typeOf(schema.items)})[]`;
  if (type === "object" || schema.properties) return objectOf(schema);
  return NAMES[type] ?? "unknown";
}

/** The type of `#/components/schemas/NAME`. References into a schema become `unknown`. */
function referencedType(reference) {
  const steps = reference
    .split("/")
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));
  const [, kind, name, ...inner] = steps;
  return kind === "schemas" && inner.length === 0
    ? `components["schemas"][${JSON.stringify(name)}]`
    : "unknown";
}

function objectOf({ properties = {}, required = [], additionalProperties }) {
  const members = Object.entries(properties).map(
    ([name, schema]) => `${key(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)};`,
  );
  const open = members.length === 0 && additionalProperties !== false;
  return open ? "Record<string, unknown>" : `{ ${members.join(" ")} }`;
}

const contentOf = (content = {}) =>
  `{ ${Object.entries(content)
    .map(([type, { schema }]) => `${JSON.stringify(type)}: ${typeOf(schema)};`)
    .join(" ")} }`;

function operationOf({ parameters = [], requestBody, responses }) {
  const query = parameters
    .filter((one) => one.in === "query")
    .map(({ name, required, schema }) => `${key(name)}${required ? "" : "?"}: ${typeOf(schema)};`);
  const answers = Object.entries(responses)
    .filter(([, answer]) => answer.content)
    .map(
      ([status, { content }]) => `${key(status).replaceAll('"', "")}: { content: ${contentOf(content)} };`,
    );
  return [
    "{",
    query.length > 0 ? `parameters: { query: { ${query.join(" ")} } };` : "",
    requestBody ? `requestBody: { content: ${contentOf(requestBody.content)} };` : "",
    `responses: { ${answers.join(" ")} };`,
    "}",
  ].join(" ");
}

export function typesOf({ paths, components = {} }) {
  const items = Object.entries(paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, one]) => `    ${method}: ${operationOf(one)};`);
    return `  ${JSON.stringify(path)}: {\n${operations.join("\n")}\n  };`;
  });
  const schemas = Object.entries(components.schemas ?? {}).map(
    ([name, schema]) => `    ${JSON.stringify(name)}: ${typeOf(schema)};`,
  );
  return `export interface paths {\n${items.join("\n")}\n}\n\nexport interface components {\n  schemas: {\n${schemas.join("\n")}\n  };\n}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(typesOf(JSON.parse(readFileSync(process.argv[2], "utf8"))));

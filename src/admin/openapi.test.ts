import Ajv from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { describeRoutes } from "./openapi.ts";
import { adminRoutes } from "./routes/all.ts";

// The test only describes the routes. No handler runs.
const routes = adminRoutes({} as never);
const description = describeRoutes(routes, "/api/v1") as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
}

const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

function objectsIn(value: unknown, found: object[] = []): object[] {
  if (typeof value !== "object" || value === null) return found;
  found.push(value);
  for (const inner of Object.values(value)) objectsIn(inner, found);
  return found;
}

test("every route is described, with a unique operation id", () => {
  expect(operations).toHaveLength(routes.length);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(routes.length);
});

test("every reference points to a schema, and every schema is referenced", () => {
  const refs = objectsIn(description).flatMap((part) => ("$ref" in part ? [String(part.$ref)] : []));
  const names = Object.keys(description.components.schemas);
  const missing = refs.filter((ref) => !names.includes(ref.replace("#/components/schemas/", "")));
  expect(missing).toEqual([]);
  expect(names.filter((name) => !refs.includes(`#/components/schemas/${name}`))).toEqual([]);
});

test("each operation declares exactly the parameters in its path", () => {
  for (const { path, parameters } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(parameters.filter((one) => one.in === "path").map(({ name }) => name)).toEqual(inPath);
  }
});

test("every schema compiles", () => {
  const ajv = new Ajv.default({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "api", ...description });
  const schemas = objectsIn(description.paths).flatMap((part) =>
    "schema" in part ? [JSON.stringify(part.schema).replaceAll('"#/', '"api#/')] : [],
  );
  for (const name of Object.keys(description.components.schemas))
    schemas.push(JSON.stringify({ $ref: `api#/components/schemas/${name}` }));
  expect(schemas.length).toBeGreaterThan(60);
  for (const schema of new Set(schemas)) ajv.compile(JSON.parse(schema) as object);
});

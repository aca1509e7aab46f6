import Ajv from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { describeRoutes } from "./openapi.ts";
import { adminRoutes } from "./routes/all.ts";

// The routes are only described here, none is run.
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

function everywhere(value: unknown, found: object[] = []): object[] {
  if (typeof value !== "object" || value === null) return found;
  found.push(value);
  for (const inner of Object.values(value)) everywhere(inner, found);
  return found;
}

test("every route is described, under an id of its own", () => {
  expect(operations).toHaveLength(routes.length);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(routes.length);
});

test("every reference leads to a schema, and every schema but none too many is used", () => {
  const refs = everywhere(description).flatMap((part) => ("$ref" in part ? [String(part.$ref)] : []));
  const names = Object.keys(description.components.schemas);
  const missing = refs.filter((ref) => !names.includes(ref.replace("#/components/schemas/", "")));
  expect(missing).toEqual([]);
  expect(names.filter((name) => !refs.includes(`#/components/schemas/${name}`))).toEqual([]);
});

test("every parameter in a path is declared, and no other", () => {
  for (const { path, parameters } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(parameters.filter((one) => one.in === "path").map(({ name }) => name)).toEqual(inPath);
  }
});

test("every schema compiles", () => {
  const ajv = new Ajv.default({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "api", ...description });
  const schemas = everywhere(description.paths).flatMap((part) =>
    "schema" in part ? [JSON.stringify(part.schema).replaceAll('"#/', '"api#/')] : [],
  );
  for (const name of Object.keys(description.components.schemas))
    schemas.push(JSON.stringify({ $ref: `api#/components/schemas/${name}` }));
  expect(schemas.length).toBeGreaterThan(60);
  for (const schema of new Set(schemas)) ajv.compile(JSON.parse(schema) as object);
});

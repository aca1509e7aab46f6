/**
 * Describes the table of routes as OpenAPI 3.1, with the same schemas that validate requests. Named schemas
 * become components.
 */
import { nameOf, type Schema, TEXT } from "../kernel/json-schema.ts";
import { VERSION } from "../kernel/version.ts";
import { JSON_TYPES } from "./body.ts";
import { PROBLEM } from "./problem.ts";
import { JSON_LINES, type Route, requiredRole } from "./route.ts";
import { CHANGES } from "./schemas.ts";

export function describeRoutes(routes: readonly Route[], url: string) {
  const paths: Record<string, Record<string, object>> = {};
  const components: Record<string, unknown> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: "3.1.0",
    info: { title: "MetaMCP admin API", version: VERSION },
    servers: [{ url }],
    security: [{ bearer: [] }],
    paths: referring(paths, components) as object,
    components: {
      schemas: components,
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    },
  };
}

function operation(route: Route): object {
  const { body, types = JSON_TYPES } = route;
  return {
    summary: route.summary,
    tags: [route.tag],
    operationId: idOf(route),
    description: `Role: ${requiredRole(route)}`,
    parameters: parametersOf(route),
    ...(body && { requestBody: { required: needsBody(body), content: contentOf(types, body) } }),
    responses: {
      ...responsesOf(route),
      default: {
        description: "why it failed",
        content: {
          ...contentOf(["application/problem+json"], PROBLEM),
          ...(route.refusesWithPage && contentOf(["text/html"], TEXT)),
        },
      },
    },
  };
}

/** A dry run always returns 200, whatever status the route has. */
function responsesOf({
  answer,
  answerTypes = ["application/json"],
  status,
  query = {},
  mayBeEmpty,
}: Route): object {
  const success = status ?? (answer ? 200 : 204);
  const dry = "dryRun" in query ? [CHANGES] : [];
  const empty = { description: "done, no content" };
  const only = answer && { description: "done", content: contentOf(answerTypes, answer) };
  if (success !== 200)
    return {
      [success]: only ?? empty,
      ...(dry[0] && { 200: { description: "a dry run", content: contentOf(answerTypes, dry[0]) } }),
    };
  const either: Schema = dry[0] && answer ? { anyOf: [answer, ...dry] } : (answer ?? {});
  return {
    200: { description: "done", content: contentOf(answerTypes, either) },
    ...(mayBeEmpty && { 204: empty }),
  };
}

/** An empty body counts as an empty object. */
function needsBody({ required, anyOf }: Schema): boolean {
  return anyOf !== undefined || (Array.isArray(required) && required.length > 0);
}

/** The same value with references to named schemas, which are added to `components`. */
function referring(value: unknown, components: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((one) => referring(one, components));
  if (typeof value !== "object" || value === null) return value;
  const name = nameOf(value as Schema);
  if (name === undefined) return inner(value, components);
  if (!(name in components)) {
    components[name] = undefined;
    components[name] = inner(value, components);
  }
  return { $ref: `#/components/schemas/${name}` };
}

function inner(value: object, components: Record<string, unknown>): object {
  const members = Object.entries(value).map(([key, one]) => [key, referring(one, components)] as const);
  return Object.fromEntries(members);
}

function contentOf(types: readonly string[], schema: Schema): object {
  const lines = { ...lineOf(schema), description: "one per line" };
  return Object.fromEntries(types.map((type) => [type, { schema: type === JSON_LINES ? lines : schema }]));
}

/** A download has the items of a list. */
function lineOf({ properties }: Schema): Schema {
  const { items } = (properties ?? {}) as { readonly items?: { readonly items: Schema } };
  return items?.items ?? {};
}

function parametersOf({ path, query = {} }: Route): readonly object[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  return [...inPath, ...Object.entries(query).map(([name, schema]) => ({ name, in: "query", schema }))];
}

/** `PATCH /mcp-servers/:uuid` → `patchMcpServersUuid`. */
function idOf({ method, path }: Route): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return method.toLowerCase() + words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("");
}

/** Describes the table of routes as OpenAPI 3.1, with the same schemas that validate requests. */
import { VERSION } from "../kernel/version.ts";
import { JSON_TYPES } from "./body.ts";
import { type Route, requiredRole, type Schema } from "./route.ts";
import { COMPONENTS, ref } from "./schemas.ts";

const PROBLEM: Schema = {
  type: "object",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    errors: {
      type: "array",
      items: {
        type: "object",
        properties: { path: { type: "string", description: "a JSON Pointer" }, message: { type: "string" } },
      },
    },
  },
};

export function describeRoutes(routes: readonly Route[], url: string): object {
  const paths: Record<string, Record<string, object>> = {};
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
    paths,
    components: {
      schemas: { ...COMPONENTS, Problem: PROBLEM },
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
    ...(body && { requestBody: { required: true, content: contentOf(types, body) } }),
    responses: {
      ...responsesOf(route),
      default: {
        description: "why it failed",
        content: contentOf(["application/problem+json"], ref("Problem")),
      },
    },
  };
}

/** A dry run always returns 200, whatever status the route has. */
function responsesOf({ answer, answerTypes = ["application/json"], status, query = {} }: Route): object {
  const success = status ?? (answer ? 200 : 204);
  const dry = "dryRun" in query ? [ref("Changes")] : [];
  const only = answer && { description: "done", content: contentOf(answerTypes, answer) };
  if (success !== 200)
    return {
      [success]: only ?? { description: "done, no content" },
      ...(dry[0] && { 200: { description: "a dry run", content: contentOf(answerTypes, dry[0]) } }),
    };
  const either: Schema = dry[0] && answer ? { anyOf: [answer, ...dry] } : (answer ?? {});
  return { 200: { description: "done", content: contentOf(answerTypes, either) } };
}

function contentOf(types: readonly string[], schema: Schema): object {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
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

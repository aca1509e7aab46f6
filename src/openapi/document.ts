/**
 * Describes the tools of an endpoint as OpenAPI 3.1. The schemas are those of the tools, with adjusted
 * references.
 */
import type { Tool } from "../catalog/tool.ts";
import { fromRaw } from "../kernel/raw.ts";
import { VERSION } from "../kernel/version.ts";
import { isObject, members } from "../rpc/slice.ts";
import { movedSchema } from "./schema-references.ts";

export interface EndpointInfo {
  /** Name of the endpoint. */
  readonly name: string;
  readonly description: string;
  /** URL of the tools. */
  readonly url: string;
  readonly access: {
    readonly public: boolean;
    readonly keys: boolean;
    readonly oauth: boolean;
    readonly queryKey: boolean;
  };
}

type Json = Readonly<Record<string, unknown>>;

const PROBLEM: Json = {
  type: "object",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string", description: "of the table of errors" },
    retryable: { type: "boolean" },
    retryAfterMs: { type: "number" },
  },
  required: ["type", "title", "status", "detail"],
};

const CONTENT: Json = {
  type: "object",
  properties: { content: { type: "array", items: { type: "object" } } },
  description: "the structured result of the tool, else its content",
};

const FAILURES: Readonly<Record<string, string>> = {
  400: "the arguments do not match the schema",
  401: "not authenticated",
  403: "not allowed",
  404: "there is no such tool here",
  422: "the tool reports a failure",
  429: "too many requests",
  502: "the server answered with an error",
  503: "the server cannot be reached",
  504: "no answer in time",
};

/** An unpaired surrogate cannot be part of a URL, so such a tool cannot be called here. */
const NOT_IN_URL = /\p{Surrogate}/u;

export function describeTools(tools: Iterable<readonly [string, Tool]>, about: EndpointInfo): Json {
  const schemas: Record<string, unknown> = { Problem: PROBLEM, Content: CONTENT };
  const paths: Record<string, Json> = {};
  const taken = new Set<string>();
  for (const [name, tool] of tools)
    if (!NOT_IN_URL.test(name))
      paths[`/${encodeURIComponent(name)}`] = pathItem(
        { name, id: operationName(name, taken) },
        tool,
        schemas,
      );
  const { description, name } = about;
  return {
    openapi: "3.1.0",
    info: { title: name, version: VERSION, ...(description === "" ? {} : { description }) },
    servers: [{ url: about.url }],
    security: securityOf(about.access),
    paths,
    components: {
      schemas,
      responses: {
        Problem: {
          description: "why it failed",
          content: { "application/problem+json": { schema: component("Problem") } },
        },
      },
      securitySchemes: schemesOf(about.access),
    },
  };
}

/**
 * One operation per tool: programs that turn operations into functions of a model would offer a tool twice
 * otherwise. That some tools can be called with GET too is not described.
 */
function pathItem(
  { name, id: operationId }: { readonly name: string; readonly id: string },
  tool: Tool,
  schemas: Record<string, unknown>,
): Json {
  const [written, annotations] = members(tool.definition, ["outputSchema", "annotations"]);
  const structured = written !== undefined && isObject(written);
  const output = structured
    ? addSchema(schemas, `${operationId}.output`, fromRaw(written))
    : component("Content");
  const input = addSchema(schemas, `${operationId}.input`, fromRaw(tool.inputSchema));
  return {
    post: {
      operationId,
      ...(tool.title === undefined ? {} : { summary: tool.title }),
      description: tool.description,
      tags: [tool.server],
      // What OpenAPI has no word for, so that a MetaMCP that reads this finds the same tool.
      "x-metamcp": { name, ...(annotations && { annotations: fromRaw(annotations) }), structured },
      requestBody: { required: true, content: { "application/json": { schema: input } } },
      responses: responsesWith(output),
    },
  };
}

/** Adds a schema to the components. */
function addSchema(schemas: Record<string, unknown>, name: string, schema: unknown): Reference {
  const { $ref } = component(name);
  schemas[name] = movedSchema(schema, $ref);
  return { $ref };
}

/** A unique name that model APIs accept for a function, and OpenAPI for a component. */
function operationName(preferred: string, taken: Set<string>): string {
  const plain = preferred.replace(/[^A-Za-z0-9_-]/g, "_");
  let name = plain;
  for (let n = 2; taken.has(name); n++) name = `${plain}_${n}`;
  taken.add(name);
  return name;
}

type Reference = { readonly $ref: string };

function component(name: string): Reference {
  return { $ref: `#/components/schemas/${name}` };
}

function responsesWith(output: Json): Json {
  const failures = Object.entries(FAILURES).map(([status, description]) => [
    status,
    { description, content: { "application/problem+json": { schema: component("Problem") } } },
  ]);
  return {
    200: { description: "the result", content: { "application/json": { schema: output } } },
    ...Object.fromEntries(failures),
    default: { $ref: "#/components/responses/Problem" },
  };
}

const BEARER: Json = { type: "http", scheme: "bearer" };

function schemesOf(access: EndpointInfo["access"]): Json {
  if (access.public) return {};
  return {
    ...((access.keys || access.oauth) && {
      bearer: { ...BEARER, description: access.oauth ? "an API key or an access token" : "an API key" },
    }),
    ...(access.keys && { key: { type: "apiKey", in: "header", name: "X-API-Key" } }),
    ...(access.keys && access.queryKey && { queryKey: { type: "apiKey", in: "query", name: "api_key" } }),
  };
}

/** Alternatives: any one of them is enough. */
function securityOf(access: EndpointInfo["access"]): readonly Json[] {
  return Object.keys(schemesOf(access)).map((name) => ({ [name]: [] }));
}

/** Routes to call a tool of a server directly, to test an endpoint, and to show the config for clients. */
import { Problem } from "../problem.ts";
import type { Route } from "../route.ts";
import { listOf } from "../schemas.ts";
import { endpointAt } from "./endpoint-use.ts";
import { objectAt } from "./objects.ts";
import { type AdminParts, checkedBody } from "./parts.ts";

const TEXT = { type: "string" } as const;
const CALL = {
  type: "object",
  properties: { args: { type: "object", default: {} } },
  additionalProperties: false,
} as const;
const RESULT = { type: "object", description: "the CallToolResult; isError if it failed" } as const;
const CLIENT_CONFIG = {
  type: "object",
  properties: {
    client: TEXT,
    title: TEXT,
    file: { type: "string", description: "the file it belongs in" },
    text: { type: "string", description: "the text to paste; replace KEY with your key" },
  },
  required: ["client", "title", "file", "text"],
} as const;
const TEST_RESULT = {
  type: "object",
  properties: {
    ok: { type: "boolean" },
    url: TEXT,
    steps: {
      type: "array",
      items: {
        type: "object",
        properties: { step: TEXT, ok: { type: "boolean" }, detail: TEXT, ms: { type: "integer" } },
        required: ["step", "ok", "detail"],
      },
    },
  },
  required: ["ok", "url", "steps"],
} as const;

/** Placeholder for the key of the user. */
const KEY_PLACEHOLDER = "KEY";

export function tryingRoutes(parts: AdminParts): readonly Route[] {
  const { inspector, control } = parts;
  return [
    {
      method: "POST",
      path: "/mcp-servers/:uuid/tools/:tool/call",
      summary: "Call a tool of a server directly",
      tag: "mcp-servers",
      role: "admin",
      body: CALL,
      answer: RESULT,
      async handle({ params, body, principal, signal }) {
        const { uuid: server } = objectAt(parts, "server", params["uuid"] ?? "");
        const { args } = await checkedBody<{ args: Record<string, unknown> }>(CALL, body ?? {});
        const tool = params["tool"] ?? "";
        return { body: await inspector.inspect({ server, tool, args, principal, signal }) };
      },
    },
    {
      method: "GET",
      path: "/endpoints/:uuid/clients",
      summary: "Show the config for each client to use this endpoint",
      tag: "endpoints",
      action: "endpoints.use",
      answer: {
        ...listOf(CLIENT_CONFIG),
        properties: { ...(listOf(CLIENT_CONFIG)["properties"] as object), url: TEXT },
      },
      async handle(request) {
        const { name, spec } = endpointAt(parts, request).object;
        const url = `${inspector.url}/metamcp/${name}/mcp`;
        const { access } = spec;
        const headers: Record<string, string> =
          access.keys && !access.public ? { "X-API-Key": KEY_PLACEHOLDER } : {};
        return { body: { url, items: await inspector.clients({ name, url, headers }) } };
      },
    },
    {
      method: "POST",
      path: "/endpoints/:uuid/self-test",
      summary: "Test the endpoint as a client: shows which step fails, and why",
      tag: "endpoints",
      role: "editor",
      answer: TEST_RESULT,
      async handle({ params }) {
        const { uuid } = objectAt(parts, "endpoint", params["uuid"] ?? "");
        const endpoint = control.compiled.endpoints.get(uuid);
        if (!endpoint) throw new Problem(404, "the endpoint no longer exists");
        return { body: await inspector.selfTest(endpoint) };
      },
    },
  ];
}

/** Routes to call a tool of a server directly, to test an endpoint, and to show the config for clients. */

import { SELF_TEST } from "../../gateway/inspector-control.ts";
import { CLIENT_SNIPPET } from "../../kernel/client-snippet.ts";
import { ANY_OBJECT, extended, object, TEXT } from "../../kernel/json-schema.ts";
import { Problem } from "../problem.ts";
import { route } from "../route.ts";
import { listOf } from "../schemas.ts";
import { endpointAt } from "./endpoint-use.ts";
import { objectAt } from "./objects.ts";
import type { AdminParts } from "./parts.ts";

const CALL = object({}, { args: { ...ANY_OBJECT, default: {} } });
const RESULT = { ...ANY_OBJECT, description: "the CallToolResult; isError if it failed" } as const;
const CLIENT_CONFIGS = extended(listOf(CLIENT_SNIPPET), {
  url: TEXT,
  name: { ...TEXT, description: "the name of the entry in the client" },
});

/** Placeholder for the key of the user. */
const KEY_PLACEHOLDER = "KEY";

/** In a client's list of servers "default" would say nothing. */
function entryName(endpoint: string): string {
  return endpoint === "default" ? "metamcp" : endpoint;
}

export function tryingRoutes(parts: AdminParts) {
  const { inspector, control } = parts;
  return [
    route({
      method: "POST",
      path: "/mcp-servers/:uuid/tools/:tool/call",
      summary: "Call a tool of a server directly",
      tag: "mcp-servers",
      role: "admin",
      body: CALL,
      answer: RESULT,
      async handle({ params, body, principal, signal }) {
        const { uuid: server } = objectAt(parts, "server", params.uuid);
        const { tool } = params;
        return { body: await inspector.inspect({ ...body, server, tool, principal, signal }) };
      },
    }),
    route({
      method: "GET",
      path: "/endpoints/:uuid/clients",
      summary: "Show the config for each client to use this endpoint",
      tag: "endpoints",
      action: "endpoints.use",
      answer: CLIENT_CONFIGS,
      async handle(request) {
        const { name: endpoint, spec } = endpointAt(parts, request).object;
        const url = `${inspector.url}/metamcp/${endpoint}/mcp`;
        const name = entryName(endpoint);
        const { access, surface } = spec;
        // With the surface auto a long list is replaced by the four tools.
        const few = surface !== "aggregate";
        const headers: Record<string, string> =
          access.keys && !access.public ? { "X-API-Key": KEY_PLACEHOLDER } : {};
        return { body: { url, name, items: await inspector.clients({ name, url, headers, few }) } };
      },
    }),
    route({
      method: "POST",
      path: "/endpoints/:uuid/self-test",
      summary: "Test the endpoint as a client: shows which step fails, and why",
      tag: "endpoints",
      role: "editor",
      answer: SELF_TEST,
      async handle({ params }) {
        const { uuid } = objectAt(parts, "endpoint", params.uuid);
        const endpoint = control.compiled.endpoints.get(uuid);
        if (!endpoint) throw new Problem(404, "the endpoint no longer exists");
        return { body: await inspector.selfTest(endpoint) };
      },
    }),
  ];
}

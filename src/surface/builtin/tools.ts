/**
 * Own tools, i.e. tools of MetaMCP itself. They are called like a child's tools, under a reserved server
 * name, and give access to prompts, resources and stored results.
 */

import { readTool } from "../../catalog/read-tool.ts";
import type { Tool } from "../../catalog/tool.ts";
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { nearest } from "../../kernel/nearest.ts";
import { toRaw } from "../../kernel/raw.ts";
import type { ScopeCatalog } from "../scope.ts";

const text = (description: string) => ({ type: "string", description }) as const;
const line = (description: string) => ({ type: "integer", minimum: 1, description }) as const;
const READ_ONLY = { readOnlyHint: true, openWorldHint: false } as const;
const SERVER = text("Name of the server");
const OF_SERVER = {
  type: "object",
  properties: { server: SERVER },
  required: ["server"],
  additionalProperties: false,
} as const;

export const READ = {
  name: "read",
  title: "Read a stored result or a resource",
  description:
    "Read a stored result, page by page, or a resource of a server. Each page ends with the URI of the next. find returns the lines with that text, from and lines a range of lines.",
  inputSchema: {
    type: "object",
    properties: {
      uri: text("URI of a stored result, of its next page, or of a resource"),
      server: text("Server of the resource, if the URI is not from a result"),
      find: text("Only lines with this text"),
      from: line("First line, from 1"),
      lines: line("How many lines"),
    },
    required: ["uri"],
    additionalProperties: false,
  },
  annotations: READ_ONLY,
} as const;

export const RESOURCES = {
  name: "resources",
  title: "List resources",
  description:
    "List the resources, resource templates and skills of a server. Read one with read {uri, server}.",
  inputSchema: OF_SERVER,
  annotations: READ_ONLY,
} as const;

export const PROMPTS = {
  name: "prompts",
  title: "List prompts",
  description: "List the prompts of a server. Get one with prompt {server, name, args}.",
  inputSchema: OF_SERVER,
  annotations: READ_ONLY,
} as const;

export const PROMPT = {
  name: "prompt",
  title: "Get a prompt",
  description: "Get the messages of a prompt.",
  inputSchema: {
    type: "object",
    properties: {
      server: SERVER,
      name: text("Name of the prompt"),
      args: { type: "object", description: "Arguments of the prompt, as text" },
    },
    required: ["server", "name"],
    additionalProperties: false,
  },
  annotations: READ_ONLY,
} as const;

const DEFINITIONS = [READ, RESOURCES, PROMPTS, PROMPT];

/** The names of all own tools, also of those hidden from some clients. */
export const OWN_NAMES: readonly string[] = DEFINITIONS.map(({ name }) => name);

let all: readonly Tool[] | undefined;

/** Read at the first use, which is after the start. */
function allTools(): readonly Tool[] {
  all ??= DEFINITIONS.flatMap((definition) => readTool(BUILTIN_SERVER, toRaw(definition)) ?? []);
  return all;
}

/** Whether an own tool exists for this client. Also for own tools that a surface lists, such as mcp_call. */
export function hasBuiltin(scope: Pick<ScopeCatalog, "hidesOwn">, tool: string, asker: Asker): boolean {
  return !scope.hidesOwn?.(tool, asker);
}

/** The own tools that exist for this client. */
export function builtinTools(scope: Pick<ScopeCatalog, "hidesOwn">, asker: Asker): readonly Tool[] {
  return allTools().filter(({ name }) => hasBuiltin(scope, name, asker));
}

/** Throws if this client has no own tool of that name. */
export function requireBuiltinTool(scope: Pick<ScopeCatalog, "hidesOwn">, name: string, asker: Asker): Tool {
  const tools = builtinTools(scope, asker);
  const found = tools.find((tool) => tool.name === name);
  if (found) return found;
  throw noBuiltinTool(
    name,
    tools.map((tool) => tool.name),
  );
}

function noBuiltinTool(tool: string, names: readonly string[]): MetaMcpError {
  const has = names.length > 0 ? ` It has ${names.join(", ")}.` : "";
  return new MetaMcpError("tool_not_found", `"${BUILTIN_SERVER}" has no tool "${tool}".${has}`, {
    server: BUILTIN_SERVER,
    tool_id: `${BUILTIN_SERVER}:${tool}`,
    details: { nearest: nearest(tool, names) },
  });
}

/** The message for a call of a tool that the surface does not have. `name` is what the client sent. */
export function unknownTool(name: unknown, known: readonly string[]): string {
  const fault = typeof name === "string" ? `Unknown tool: ${name}` : "The name of the tool is missing";
  return `${fault}. Tools here: ${known.join(", ")}`;
}

/** Tools of MetaMCP itself, called like those of a child under the reserved server name: what is no tool of a server can be reached by them. */
import { readTool } from "../../catalog/read-tool.ts";
import type { Tool } from "../../catalog/tool.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { nearest } from "../../kernel/nearest.ts";
import { toRaw } from "../../kernel/raw.ts";
import type { Scope } from "../scope.ts";

export const OWN_SERVER = "metamcp";

const text = (description: string) => ({ type: "string", description }) as const;
const line = (description: string) => ({ type: "integer", minimum: 1, description }) as const;
const READS = { readOnlyHint: true, openWorldHint: false } as const;
const SERVER = text("Name of the server");

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
  annotations: READS,
} as const;

export const RESOURCES = {
  name: "resources",
  title: "List resources",
  description: "List the resources and resource templates of a server. Read one with read {uri, server}.",
  inputSchema: {
    type: "object",
    properties: { server: SERVER },
    required: ["server"],
    additionalProperties: false,
  },
  annotations: READS,
} as const;

export const PROMPTS = {
  name: "prompts",
  title: "List prompts",
  description: "List the prompts of a server. Get one with prompt {server, name, args}.",
  inputSchema: {
    type: "object",
    properties: { server: SERVER },
    required: ["server"],
    additionalProperties: false,
  },
  annotations: READS,
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
  annotations: READS,
} as const;

const DEFINITIONS = [READ, RESOURCES, PROMPTS, PROMPT];

/** Of all there are, whoever asks. */
export const OWN_NAMES: readonly string[] = DEFINITIONS.map(({ name }) => name);

const OWN_TOOLS: readonly Tool[] = DEFINITIONS.flatMap(
  (definition) => readTool(OWN_SERVER, toRaw(definition)) ?? [],
);

/** Whether a tool of ours exists for this client: one of these, or one that a surface lists. */
export function hasOwn({ own }: Pick<Scope, "own">, tool: string, asker: Asker): boolean {
  return !own?.hides(tool, asker);
}

/** Those that exist for this client. */
export function ownTools(scope: Pick<Scope, "own">, asker: Asker): readonly Tool[] {
  return OWN_TOOLS.filter(({ name }) => hasOwn(scope, name, asker));
}

/** Throws where there is none of that name for this client. */
export function requireOwnTool(scope: Pick<Scope, "own">, name: string, asker: Asker): Tool {
  const tools = ownTools(scope, asker);
  const found = tools.find((tool) => tool.name === name);
  if (found) return found;
  throw noOwnTool(
    name,
    tools.map((tool) => tool.name),
  );
}

function noOwnTool(tool: string, names: readonly string[]): MetaMcpError {
  const has = names.length > 0 ? ` It has ${names.join(", ")}.` : "";
  return new MetaMcpError("tool_not_found", `"${OWN_SERVER}" has no tool "${tool}".${has}`, {
    server: OWN_SERVER,
    tool_id: `${OWN_SERVER}:${tool}`,
    details: { nearest: nearest(tool, names) },
  });
}

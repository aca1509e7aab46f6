/** Runs an own tool, i.e. a tool of MetaMCP itself. */
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import { type Raw, scalarOf } from "../../kernel/raw.ts";
import { member } from "../../rpc/slice.ts";
import { type Fields, type Input, readFields } from "../input.ts";
import { isStoredUri } from "../result/store.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { getPrompt, listPrompts, listResources } from "./items.ts";
import { read } from "./read.ts";
import { PROMPT, PROMPTS, READ, RESOURCES, requireBuiltinTool } from "./tools.ts";

export interface OwnCall {
  readonly tool: string;
  readonly args: Raw;
  /** The name of the own tool that lists servers, for hints in errors. */
  readonly finder?: string | undefined;
}

type RunTool = (scope: Scope, input: Input, request: ClientRequest, finder?: string) => Promise<Raw>;

interface Implementation {
  readonly schema: Fields;
  readonly run: RunTool;
}

const BY_NAME: ReadonlyMap<string, Implementation> = new Map([
  [READ.name as string, { schema: READ.inputSchema as Fields, run: read as RunTool }],
  [RESOURCES.name, { schema: RESOURCES.inputSchema, run: listResources }],
  [PROMPTS.name, { schema: PROMPTS.inputSchema, run: listPrompts }],
  [PROMPT.name, { schema: PROMPT.inputSchema, run: getPrompt }],
]);

/** Throws or rejects like a call to a child's tool. */
export function callBuiltinTool(
  scope: Scope,
  { tool, args, finder }: OwnCall,
  request: ClientRequest,
): Promise<Raw> {
  return asBuiltinTool(scope, tool, request, () => {
    const { schema, run } = BY_NAME.get(tool) as Implementation;
    const context = { server: BUILTIN_SERVER, tool_id: `${BUILTIN_SERVER}:${tool}` };
    const input = readFields(schema, args, { name: `${BUILTIN_SERVER} ${tool}`, context });
    return run(scope, input, request, finder);
  });
}

/**
 * Runs `run` as this own tool: checks that the tool exists for the client, and applies the layers around own
 * tools.
 */
export function asBuiltinTool(
  scope: Pick<Scope, "hidesOwn" | "aroundBuiltin">,
  tool: string,
  request: ClientRequest,
  run: () => Promise<Raw>,
): Promise<Raw> {
  requireBuiltinTool(scope, tool, request.origin);
  return scope.aroundBuiltin ? scope.aroundBuiltin(tool, request, run) : run();
}

/**
 * Whether the call reads a stored result. Its pages are already limited, so they must not be stored again.
 */
export function readsStored(server: string, { tool, args }: OwnCall): boolean {
  if (server !== BUILTIN_SERVER || tool !== READ.name) return false;
  return isStoredUri(uriIn(args));
}

function uriIn(args: Raw): string {
  const uri = scalarOf(member(args, "uri"));
  return typeof uri === "string" ? uri : "";
}

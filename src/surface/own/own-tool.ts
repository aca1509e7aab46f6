/** Runs a tool of MetaMCP itself. */
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { type Fields, type Input, readFields } from "../input.ts";
import { isStoredUri } from "../result/store.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { getPrompt, listPrompts, listResources } from "./items.ts";
import { read } from "./read.ts";
import { OWN_SERVER, PROMPT, PROMPTS, READ, RESOURCES, requireOwnTool } from "./tools.ts";

export interface OwnCall {
  readonly tool: string;
  readonly args: Raw;
  /** What shows the servers there are, for hints. */
  readonly finder?: string | undefined;
}

type Run = (scope: Scope, input: Input, request: ClientRequest, finder?: string) => Promise<Raw>;

interface OwnRun {
  readonly schema: Fields;
  readonly run: Run;
}

/** Each of the tools that there are. */
const RUNS: ReadonlyMap<string, OwnRun> = new Map([
  [READ.name as string, { schema: READ.inputSchema as Fields, run: read as Run }],
  [RESOURCES.name, { schema: RESOURCES.inputSchema, run: listResources }],
  [PROMPTS.name, { schema: PROMPTS.inputSchema, run: listPrompts }],
  [PROMPT.name, { schema: PROMPT.inputSchema, run: getPrompt }],
]);

/** Throws or rejects like a call of a child's tool. */
export function callOwnTool(
  scope: Scope,
  { tool, args, finder }: OwnCall,
  request: ClientRequest,
): Promise<Raw> {
  return asOwnTool(scope, tool, request, () => {
    const { schema, run } = RUNS.get(tool) as OwnRun;
    const context = { server: OWN_SERVER, tool_id: `${OWN_SERVER}:${tool}` };
    const input = readFields(schema, args, { name: `${OWN_SERVER} ${tool}`, context });
    return run(scope, input, request, finder);
  });
}

/** What is done in the way of one of these tools, behind whatever stands around it. */
export function asOwnTool(
  scope: Pick<Scope, "own">,
  tool: string,
  request: ClientRequest,
  run: () => Promise<Raw>,
): Promise<Raw> {
  requireOwnTool(scope, tool, request.origin);
  return scope.own ? scope.own.around(tool, request, run) : run();
}

/** A part of a stored result is bounded by itself: to store it again would lead nowhere. */
export function readsStored(server: string, { tool, args }: OwnCall): boolean {
  if (server !== OWN_SERVER || tool !== READ.name) return false;
  return isStoredUri(uriIn(args));
}

function uriIn(args: Raw): string {
  const { uri } = fromRaw(args) as { uri?: unknown };
  return typeof uri === "string" ? uri : "";
}

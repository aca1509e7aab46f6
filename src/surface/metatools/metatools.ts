/** The metatools surface: tools to find, describe, run and chain the tools of all servers, for programs as much as for models. */
import { MetaMcpError } from "../../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { members } from "../../rpc/slice.ts";
import type { ClientRequest, Face } from "../face.ts";
import { internalError } from "../failure.ts";
import { readInput } from "../input.ts";
import { passOn, passThrough } from "../pass-through.ts";
import { handleResources } from "../result/resources.ts";
import type { Scope } from "../scope.ts";
import { failure } from "./answer.ts";
import { runChain } from "./chain.ts";
import { contentMark } from "./content.ts";
import { describeTool, listToolExamples } from "./describe.ts";
import { executeCode } from "./execute-code.ts";
import { listNamespaces, listTools, searchTools } from "./find.ts";
import { runTool } from "./run.ts";
import {
  DESCRIBE_TOOL,
  EXECUTE_CODE,
  instructions,
  LIST_NAMESPACES,
  LIST_TOOL_EXAMPLES,
  LIST_TOOLS,
  RUN_CHAIN,
  RUN_TOOL,
  SEARCH_TOOLS,
} from "./tools.ts";

type Input = ReadonlyMap<string, Raw>;
type Run = (scope: Scope, input: Input, meta: Raw | undefined, request: ClientRequest) => Promise<Raw>;

const asking =
  (find: (scope: Scope, input: Input, request: ClientRequest) => Promise<Raw>): Run =>
  (scope, input, _meta, request) =>
    find(scope, input, request);

const METATOOLS = [
  { tool: SEARCH_TOOLS, run: asking(searchTools) },
  { tool: LIST_TOOLS, run: asking(listTools) },
  { tool: LIST_NAMESPACES, run: asking(listNamespaces) },
  { tool: DESCRIBE_TOOL, run: asking(describeTool) },
  { tool: LIST_TOOL_EXAMPLES, run: asking(listToolExamples) },
  { tool: RUN_TOOL, run: runTool },
  { tool: RUN_CHAIN, run: runChain },
  { tool: EXECUTE_CODE, run: executeCode },
] as const;

const BY_NAME = new Map(METATOOLS.map((each) => [each.tool.name as string, each]));
const LIST = toRaw({ tools: METATOOLS.map(({ tool }) => tool) });
const WITHOUT_CODE = toRaw({
  tools: METATOOLS.filter(({ tool }) => tool !== EXECUTE_CODE).map(({ tool }) => tool),
});

export interface MetatoolsOptions {
  /** Clients are told when what can be searched changed. */
  readonly notify: boolean;
}

export function createMetatoolsFace(scope: Scope, { notify }: MetatoolsOptions): Face {
  const version = (): string => contentMark(scope.catalog.snapshot);
  return {
    // Only stored results are resources here.
    capabilities: { tools: notify ? { listChanged: true } : {}, resources: {}, logging: {} },
    prepare: () => scope.catalog.loadCached(),
    instructions: () =>
      instructions(
        scope.servers().map((server) => server.name),
        scope.code !== undefined,
      ),
    handle(request) {
      if (request.method === "tools/call") return callMetatool(scope, request);
      if (request.method === "tools/list") return Promise.resolve(list(scope, request, version()));
      const resource = handleResources(scope, request);
      return resource ? Promise.resolve(resource) : passThrough(scope, request);
    },
    lists() {
      const { listings } = scope.catalog.snapshot;
      const complete = [...scope.specs().keys()].every((server) => listings.has(server));
      return { tools: { version: version(), complete } };
    },
    notified: (method, params, origin) => passOn(scope, method, params, origin),
  };
}

function list({ code }: Scope, { params, listing }: ClientRequest, version: string): Raw {
  const [cursor] = params ? members(params, ["cursor"]) : [];
  if (cursor) throw RpcError.of(INVALID_PARAMS, "There is one page only: list without a cursor");
  listing?.("tools")(version);
  return code ? LIST : WITHOUT_CODE;
}

async function callMetatool(scope: Scope, request: ClientRequest): Promise<Raw> {
  const [name, args, meta] = request.params ? members(request.params, ["name", "arguments", "_meta"]) : [];
  const wanted = name && fromRaw(name);
  const named = typeof wanted === "string" ? BY_NAME.get(wanted) : undefined;
  const found = named?.tool === EXECUTE_CODE && !scope.code ? undefined : named;
  if (!found) {
    const known = [...BY_NAME.keys()].filter((one) => scope.code || one !== EXECUTE_CODE.name).join(", ");
    throw RpcError.of(INVALID_PARAMS, `Unknown tool: ${String(wanted)}. Tools here: ${known}`);
  }
  try {
    return await found.run(scope, readInput(found.tool, args), meta, request);
  } catch (error) {
    if (error instanceof RpcError) throw error;
    const told = MetaMcpError.is(error) ? error : internalError(scope.log, error);
    return failure(request.origin, told.context.op === undefined ? told.with({ op: found.tool.name }) : told);
  }
}

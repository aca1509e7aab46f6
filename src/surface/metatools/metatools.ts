/**
 * The metatools surface: own tools that find, describe, run and chain the tools of all servers, for models
 * and for programs.
 */
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Asker } from "../../kernel/list-key.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { forModels } from "../app-tools.ts";
import { builtinTools, hasBuiltin } from "../builtin/tools.ts";
import { readParams } from "../call-params.ts";
import { contentHash } from "../content-hash.ts";
import { refuseCursor } from "../cursor.ts";
import { emitListed } from "../emit-listed.ts";
import { appsExtension } from "../extensions.ts";
import { internalError } from "../failure.ts";
import { type Input, readInput } from "../input.ts";
import { type SurfaceKind, shared } from "../kind.ts";
import { callOther, type Others } from "../other-call.ts";
import { passOn, passThrough } from "../pass-through.ts";
import { PinnedTools } from "../pinned/pinned-tools.ts";
import { recorded, recordRefusal } from "../recorded.ts";
import { handleResources } from "../result/resources.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest, Surface } from "../surface.ts";
import { failure } from "./answer.ts";
import { runChain } from "./chain.ts";
import { describeTool, listToolExamples } from "./describe.ts";
import { executeCode } from "./execute-code.ts";
import { listNamespaces, listTools, searchTools } from "./find.ts";
import { runTool } from "./run-tool.ts";
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

type RunTool = (scope: Scope, input: Input, meta: Raw | undefined, request: ClientRequest) => Promise<Raw>;

const withoutMeta =
  (find: (scope: Scope, input: Input, request: ClientRequest) => Promise<Raw>): RunTool =>
  (scope, input, _meta, request) =>
    find(scope, input, request);

const METATOOLS = [
  { tool: SEARCH_TOOLS, run: withoutMeta(searchTools) },
  { tool: LIST_TOOLS, run: withoutMeta(listTools) },
  { tool: LIST_NAMESPACES, run: withoutMeta(listNamespaces) },
  { tool: DESCRIBE_TOOL, run: withoutMeta(describeTool) },
  { tool: LIST_TOOL_EXAMPLES, run: withoutMeta(listToolExamples) },
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
  /** Clients get a notification when the searchable content changes. */
  readonly notify: boolean;
}

export const metatools: SurfaceKind = {
  name: "metatools",
  open: (scope, options) => shared(createMetatoolsSurface(scope, options), options),
};

export function createMetatoolsSurface(all: Scope, { notify }: MetatoolsOptions): Surface {
  const scope = forModels(all);
  const pinned = new PinnedTools(all);
  const version = (asker: Asker): string =>
    `${contentHash(scope.view(asker).snapshot)} ${pinned.state(asker).version}`;
  return {
    // The only resources on this surface are stored results.
    capabilities: { tools: notify ? { listChanged: true } : {}, resources: {}, logging: {} },
    prepare: async (origin) => {
      await scope.view(origin).loadCached();
      await pinned.prepare(origin);
    },
    extensions: (origin) => appsExtension(scope, origin),
    instructions: (asker) =>
      instructions(
        scope.servers(asker).map((server) => server.name),
        {
          code: scope.code !== undefined && hasBuiltin(scope, EXECUTE_CODE.name, asker),
          chain: hasBuiltin(scope, RUN_CHAIN.name, asker),
          own: builtinTools(scope, asker).map(({ name }) => name),
        },
      ),
    handle(request) {
      if (request.method === "tools/call") return callMetatool(scope, request, { all, pinned });
      if (request.method === "tools/list") return list(scope, request, { pinned, version });
      return handleResources(scope, request) ?? passThrough(scope, request);
    },
    lists(asker) {
      const { listings } = scope.view(asker).snapshot;
      const complete = [...scope.specs().keys()].every((server) => listings.has(server));
      return { tools: { version: version(asker), complete } };
    },
    tool: (name, asker) => pinned.tool(name, asker),
    loadMissing: (origin) => pinned.loadMissing(origin),
    notified: (method, params, origin) => passOn(scope, method, params, origin),
  };
}

interface Listing {
  readonly pinned: PinnedTools;
  readonly version: (asker: Asker) => string;
}

async function list(scope: Scope, request: ClientRequest, { pinned, version }: Listing): Promise<Raw> {
  const { params, listing } = request;
  if (!pinned.any) refuseCursor(params);
  const listed = listing?.("tools");
  const own = scope.code ? LIST : WITHOUT_CODE;
  const shown = pinned.any ? await pinned.list({ ...request, listing: undefined }, own) : own;
  listed?.(version(request.origin));
  emitListed(scope, request, shown);
  return shown;
}

function callMetatool(scope: Scope, request: ClientRequest, others: Others): Promise<Raw> {
  const { name: wanted, args, meta } = readParams(request.params);
  const named = typeof wanted === "string" ? BY_NAME.get(wanted) : undefined;
  const found = named?.tool === EXECUTE_CODE && !scope.code ? undefined : named;
  if (!found) {
    const offered = () => [...BY_NAME.keys()].filter((name) => scope.code || name !== EXECUTE_CODE.name);
    return callOther(scope, request, others, offered);
  }
  const own = { server: BUILTIN_SERVER, tool: found.tool.name, args };
  const run = async (inner: ClientRequest): Promise<Raw> => {
    try {
      return await found.run(scope, readInput(found.tool, args), meta, inner);
    } catch (error) {
      if (error instanceof RpcError) throw error;
      const failed = MetaMcpError.is(error) ? error : internalError(scope.log, error);
      // run_tool is not recorded itself; the tool that it runs is. Here it failed before it ran a tool.
      if (found.tool === RUN_TOOL && failed.code !== "internal")
        recordRefusal(scope, own, inner, { code: failed.code, error: failed });
      return failure(inner.origin, failed.context.op === undefined ? failed.with({ op: own.tool }) : failed);
    }
  };
  return found.tool === RUN_TOOL ? run(request) : recorded(scope, own, request, run);
}

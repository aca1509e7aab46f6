/** The meta surface: four tools instead of hundreds, at constant cost. */
import { callerOf } from "../../kernel/call.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { members } from "../../rpc/slice.ts";
import type { Executor } from "../../sandbox/executor.ts";
import { callParams } from "../call-params.ts";
import { callTool } from "../call-tool.ts";
import type { ClientRequest, Face } from "../face.ts";
import { asResult, executionFailed } from "../failure.ts";
import { readInput } from "../input.ts";
import { OWN_SERVER, READ } from "../own-tool.ts";
import { passOn, passThrough } from "../pass-through.ts";
import { type Budget, DEFAULT_BUDGET, shortResult } from "../result/budget.ts";
import { handleResources } from "../result/resources.ts";
import type { Scope } from "../scope.ts";
import { readCall } from "./call-input.ts";
import { discover } from "./discover.ts";
import { execute } from "./execute.ts";
import { provision } from "./provision.ts";
import { CALL, DISCOVER, EXECUTE, instructions, PROVISION } from "./tools.ts";

type Run = (
  scope: Scope,
  args: Raw | undefined,
  meta: Raw | undefined,
  request: ClientRequest,
) => Promise<Raw>;

interface OwnTool {
  readonly definition: { readonly name: string };
  /** Its failures are results already, but for those that it throws at once. */
  readonly run: Run;
  /** Whether it is there at all. */
  offered(scope: Scope): boolean;
}

const always = (): boolean => true;
const OWN: readonly OwnTool[] = [
  {
    definition: DISCOVER,
    run: (scope, args, _meta, request) => shown(scope, discover(scope, readInput(DISCOVER, args), request)),
    offered: always,
  },
  { definition: PROVISION, run: provisions, offered: (scope) => scope.provision !== undefined },
  { definition: CALL, run: call, offered: always },
  { definition: EXECUTE, run: executes, offered: (scope) => scope.code !== undefined },
];
const BY_NAME: ReadonlyMap<unknown, OwnTool> = new Map(OWN.map((own) => [own.definition.name, own]));

export function isMetaTool(name: unknown): boolean {
  return BY_NAME.has(name);
}

export function createMetaFace(scope: Scope): Face {
  const offered = OWN.filter((own) => own.offered(scope)).map(({ definition }) => definition);
  const tools = toRaw({ tools: offered });
  return {
    // Only stored results are resources here.
    capabilities: { tools: {}, resources: {}, logging: {} },
    instructions: () =>
      instructions(
        scope.servers().map((server) => server.name),
        { code: scope.code !== undefined, provision: scope.provision !== undefined },
      ),
    handle(request) {
      if (request.method === "tools/call") return callOwnTool(scope, request);
      if (request.method === "tools/list") return Promise.resolve(list(tools, request.params));
      const resource = handleResources(scope, request);
      return resource ? Promise.resolve(resource) : passThrough(scope, request);
    },
    notified: (method, params, origin) => passOn(scope, method, params, origin),
  };
}

function list(tools: Raw, params: Raw | undefined): Raw {
  const [cursor] = params ? members(params, ["cursor"]) : [];
  if (cursor) throw RpcError.of(INVALID_PARAMS, "There is one page only: list without a cursor");
  return tools;
}

function callOwnTool(scope: Scope, request: ClientRequest): Promise<Raw> {
  const [name, args, meta] = request.params ? members(request.params, ["name", "arguments", "_meta"]) : [];
  const wanted = name && fromRaw(name);
  const own = BY_NAME.get(wanted);
  if (!own?.offered(scope)) {
    const names = OWN.filter((other) => other.offered(scope)).map(({ definition }) => definition.name);
    throw RpcError.of(INVALID_PARAMS, `Unknown tool: ${String(wanted)}. Tools here: ${names.join(", ")}`);
  }
  try {
    return own.run(scope, args, meta, request);
  } catch (error) {
    return Promise.resolve(asResult(scope.log, error));
  }
}

function call(
  scope: Scope,
  args: Raw | undefined,
  meta: Raw | undefined,
  request: ClientRequest,
): Promise<Raw> {
  const input = readCall(args);
  const server = fromRaw(input.server) as string;
  const tool = fromRaw(input.tool) as string;
  const params = callParams(input.tool, input.args, meta);
  const result = callTool(scope, { server, tool, args: input.args, params }, request);
  return result.then(
    (whole) => {
      if (whole.length <= (scope.maxResultBytes() ?? DEFAULT_BUDGET) || server === OWN_SERVER) return whole;
      return shown(scope, fitted(result, scope, `${server}:${tool}`, request));
    },
    (error: unknown) => {
      const theirs = error instanceof RpcError;
      const failed = theirs ? executionFailed(error, { server, tool_id: `${server}:${tool}` }) : error;
      return asResult(scope.log, failed);
    },
  );
}

function shown(scope: Scope, result: Promise<Raw>): Promise<Raw> {
  return result.catch((error: unknown) => asResult(scope.log, error));
}

function executes(
  scope: Scope,
  args: Raw | undefined,
  meta: Raw | undefined,
  request: ClientRequest,
): Promise<Raw> {
  const result = execute(scope, { args, meta, executor: scope.code as Executor }, request);
  return shown(scope, fitted(result, scope, EXECUTE.name, request));
}

function provisions(
  scope: Scope,
  args: Raw | undefined,
  meta: Raw | undefined,
  request: ClientRequest,
): Promise<Raw> {
  return shown(scope, fitted(provision(scope, args, meta, request), scope, PROVISION.name, request));
}

async function fitted(
  result: Promise<Raw>,
  scope: Scope,
  source: string,
  request: ClientRequest,
): Promise<Raw> {
  const whole = await result;
  const fits = whole.length <= (scope.maxResultBytes() ?? DEFAULT_BUDGET);
  return fits ? whole : shortResult(whole, budgetOf(scope, source, request));
}

function budgetOf({ results }: Scope, source: string, { origin }: ClientRequest): Budget {
  const how = (uri: string): string =>
    `mcp_call {server: "${OWN_SERVER}", tool: "${READ.name}", args: {uri: "${uri}"}}`;
  return { store: results, caller: callerOf(origin), source, how };
}

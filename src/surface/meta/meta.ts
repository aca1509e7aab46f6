/** The meta surface: four tools instead of hundreds, at constant cost. */
import { callerOf } from "../../kernel/call.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { members } from "../../rpc/slice.ts";
import type { Executor } from "../../sandbox/executor.ts";
import { readParams } from "../call-params.ts";
import { callTool } from "../call-tool.ts";
import { emitListed } from "../emit-listed.ts";
import { asResult, executionFailed } from "../failure.ts";
import { readInput } from "../input.ts";
import { ownBudget } from "../own/own-budget.ts";
import { readsStored } from "../own/own-tool.ts";
import { hasOwn, OWN_SERVER, READ } from "../own/tools.ts";
import { passOn, passThrough } from "../pass-through.ts";
import { recorded, recordRefusal } from "../recorded.ts";
import { type Budget, DEFAULT_BUDGET, shortResult } from "../result/budget.ts";
import { handleResources } from "../result/resources.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest, Surface } from "../surface.ts";
import { TASK_CAPABILITY } from "../task/legacy-form.ts";
import { TaskRequests } from "../task/task-requests.ts";
import { type CallInput, readCall } from "./call-input.ts";
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

export const META_TOOLS: readonly string[] = OWN.map(({ definition }) => definition.name);

export function isMetaTool(name: unknown): boolean {
  return BY_NAME.has(name);
}

export function createMetaSurface(scope: Scope): Surface {
  const offered = OWN.filter((own) => own.offered(scope)).map(({ definition }) => definition);
  const tools = toRaw({ tools: offered });
  const { tasks, clock } = scope;
  const taskRequests = new TaskRequests({
    tasks,
    clock,
    supportOf: (name) => (name === CALL.name ? "optional" : "forbidden"),
  });
  const handle = (request: ClientRequest): Promise<Raw> => {
    if (request.method === "tools/call") return callOwnTool(scope, request);
    if (request.method === "tools/list") {
      emitListed(scope, request, tools);
      return Promise.resolve(list(tools, request.params));
    }
    const resource = handleResources(scope, request);
    return resource ?? passThrough(scope, request);
  };
  return {
    // Only stored results are resources here.
    capabilities: { tools: {}, resources: {}, logging: {}, tasks: TASK_CAPABILITY },
    instructions: (asker) =>
      instructions(
        scope.servers().map((server) => server.name),
        {
          code: scope.code !== undefined && hasOwn(scope, EXECUTE.name, asker),
          provision: scope.provision !== undefined && hasOwn(scope, PROVISION.name, asker),
          read: hasOwn(scope, READ.name, asker),
        },
      ),
    handle: (request) => taskRequests.answer(request, handle) ?? handle(request),
    notified: (method, params, origin) => passOn(scope, method, params, origin),
  };
}

function list(tools: Raw, params: Raw | undefined): Raw {
  const [cursor] = params ? members(params, ["cursor"]) : [];
  if (cursor) throw RpcError.of(INVALID_PARAMS, "There is only one page: list without a cursor");
  return tools;
}

function callOwnTool(scope: Scope, request: ClientRequest): Promise<Raw> {
  const { name: wanted, args, meta } = readParams(request.params);
  const own = BY_NAME.get(wanted);
  if (!own?.offered(scope)) {
    recordRefusal(scope, { server: "", tool: nameIn(wanted), args }, request, { code: "tool_not_found" });
    const names = OWN.filter((other) => other.offered(scope))
      .map(({ definition }) => definition.name)
      .filter((tool) => hasOwn(scope, tool, request.origin));
    throw RpcError.of(INVALID_PARAMS, `Unknown tool: ${String(wanted)}. Tools here: ${names.join(", ")}`);
  }
  const run = (inner: ClientRequest): Promise<Raw> => {
    try {
      return own.run(scope, args, meta, inner);
    } catch (error) {
      return Promise.resolve(asResult(scope.log, error));
    }
  };
  // Its call is that of the tool it calls.
  if (own.definition === CALL) return run(request);
  return recorded(scope, { server: OWN_SERVER, tool: own.definition.name, args }, request, run);
}

/** Of a call that names nothing, nothing. */
function nameIn(written: unknown): string {
  return typeof written === "string" ? written : "";
}

function readOrRefuse(scope: Scope, args: Raw | undefined, request: ClientRequest): CallInput {
  try {
    return readCall(args);
  } catch (error) {
    recordRefusal(scope, { server: OWN_SERVER, tool: CALL.name, args }, request, {
      code: "validation_input",
    });
    throw error;
  }
}

function call(
  scope: Scope,
  args: Raw | undefined,
  meta: Raw | undefined,
  request: ClientRequest,
): Promise<Raw> {
  const input = readOrRefuse(scope, args, request);
  const { server, tool } = input;
  const result = callTool(scope, { server, tool, args: input.args, meta }, request);
  return result.then(
    (whole) => {
      if (server !== OWN_SERVER) scope.results.links.noteAll(callerOf(request.origin), server, whole);
      const fits = whole.length <= (scope.maxResultBytes() ?? DEFAULT_BUDGET);
      if (fits || readsStored(server, { tool, args: input.args })) return whole;
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

const how = (uri: string): string =>
  `mcp_call {server: "${OWN_SERVER}", tool: "${READ.name}", args: {uri: "${uri}"}}`;

function budgetOf(scope: Scope, source: string, { origin }: ClientRequest): Budget {
  return ownBudget(scope, source, origin, { how, code: EXECUTE.name });
}

/** The meta surface: four own tools that find and call all others, so that the tool list stays small. */
import { joinArray } from "../../catalog/json-array.ts";
import { callerOf } from "../../kernel/call.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { elements, members, withMember } from "../../rpc/slice.ts";
import type { Executor } from "../../sandbox/executor.ts";
import { readParams } from "../call-params.ts";
import { callTool } from "../call-tool.ts";
import { refuseCursor } from "../cursor.ts";
import { emitListed } from "../emit-listed.ts";
import { asResult, executionFailed } from "../failure.ts";
import { readInput } from "../input.ts";
import { ownBudget } from "../own/own-budget.ts";
import { readsStored } from "../own/own-tool.ts";
import { hasOwn, OWN_SERVER, READ, unknownTool } from "../own/tools.ts";
import { passOn, passThrough } from "../pass-through.ts";
import { recorded, recordRefusal } from "../recorded.ts";
import { type Budget, DEFAULT_BUDGET, shortResult } from "../result/budget.ts";
import { isMedia, isWithin } from "../result/media.ts";
import { handleResources } from "../result/resources.ts";
import { restartNote, withText } from "../result/restart-note.ts";
import type { Scope } from "../scope.ts";
import type { ClientRequest, Surface } from "../surface.ts";
import { TASK_CAPABILITY } from "../task/legacy-form.ts";
import { TaskRequests } from "../task/task-requests.ts";
import { type CallInput, readCall } from "./call-input.ts";
import { discover } from "./discover.ts";
import { execute } from "./execute.ts";
import { provision } from "./provision.ts";
import { CALL, DISCOVER, EXECUTE, instructions, PROVISION } from "./tools.ts";

type RunTool = (
  scope: Scope,
  args: Raw | undefined,
  meta: Raw | undefined,
  request: ClientRequest,
) => Promise<Raw>;

interface MetaTool {
  readonly definition: { readonly name: string };
  /** Resolves with a result even for failures. Only what it throws synchronously must be converted. */
  readonly run: RunTool;
  /** Whether the scope supports this tool. */
  offered(scope: Scope): boolean;
}

const always = (): boolean => true;
const TOOLS: readonly MetaTool[] = [
  {
    definition: DISCOVER,
    run: runDiscover,
    offered: always,
  },
  { definition: PROVISION, run: runProvision, offered: (scope) => scope.provision !== undefined },
  { definition: CALL, run: runCall, offered: always },
  { definition: EXECUTE, run: runExecute, offered: (scope) => scope.code !== undefined },
];
const BY_NAME: ReadonlyMap<unknown, MetaTool> = new Map(TOOLS.map((tool) => [tool.definition.name, tool]));

export const META_TOOLS: readonly string[] = TOOLS.map(({ definition }) => definition.name);

export function isMetaTool(name: unknown): boolean {
  return BY_NAME.has(name);
}

export function createMetaSurface(scope: Scope): Surface {
  const offered = TOOLS.filter((tool) => tool.offered(scope)).map(({ definition }) => definition);
  const tools = toRaw({ tools: offered });
  const { tasks, clock } = scope;
  const taskRequests = new TaskRequests({
    tasks,
    clock,
    supportOf: (name) => (name === CALL.name ? "optional" : "forbidden"),
  });
  const handle = (request: ClientRequest): Promise<Raw> => {
    if (request.method === "tools/call") return callMetaTool(scope, request);
    if (request.method === "tools/list") {
      refuseCursor(request.params);
      emitListed(scope, request, tools);
      return Promise.resolve(tools);
    }
    const resource = handleResources(scope, request);
    return resource ?? passThrough(scope, request);
  };
  return {
    // The only resources on this surface are stored results.
    capabilities: { tools: {}, resources: {}, logging: {}, tasks: TASK_CAPABILITY },
    instructions: (asker) =>
      instructions(
        scope.servers(asker).map((server) => server.name),
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

function callMetaTool(scope: Scope, request: ClientRequest): Promise<Raw> {
  const { name, args, meta } = readParams(request.params);
  const tool = BY_NAME.get(name);
  if (!tool?.offered(scope)) {
    recordRefusal(scope, { server: "", tool: typeof name === "string" ? name : "", args }, request, {
      code: "tool_not_found",
    });
    const names = TOOLS.filter((other) => other.offered(scope))
      .map(({ definition }) => definition.name)
      .filter((known) => hasOwn(scope, known, request.origin));
    throw RpcError.of(INVALID_PARAMS, unknownTool(name, names));
  }
  const run = (inner: ClientRequest): Promise<Raw> => {
    try {
      return tool.run(scope, args, meta, inner);
    } catch (error) {
      return Promise.resolve(asResult(scope.log, error));
    }
  };
  // mcp_call is not recorded itself; the tool that it calls is.
  if (tool.definition === CALL) return run(request);
  return recorded(scope, { server: OWN_SERVER, tool: tool.definition.name, args }, request, run);
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

function runCall(
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
      const note = restartNote(server, whole);
      const fits = isWithin(whole, scope.maxResultBytes() ?? DEFAULT_BUDGET);
      if (fits || readsStored(server, { tool, args: input.args })) return withText(whole, note);
      const short = withinBudget(result, scope, `${server}:${tool}`, request);
      return errorsAsResults(
        scope,
        short.then((shown) => withText(shown, note)),
      );
    },
    (error: unknown) => {
      const fromServer = error instanceof RpcError;
      const failed = fromServer ? executionFailed(error, { server, tool_id: `${server}:${tool}` }) : error;
      return asResult(scope.log, failed);
    },
  );
}

function errorsAsResults(scope: Scope, result: Promise<Raw>): Promise<Raw> {
  return result.catch((error: unknown) => asResult(scope.log, error));
}

/** One entry may be larger than the budget: the schema of a single tool. */
function runDiscover(
  scope: Scope,
  args: Raw | undefined,
  _meta: Raw | undefined,
  request: ClientRequest,
): Promise<Raw> {
  const result = discover(scope, readInput(DISCOVER, args), request);
  return errorsAsResults(scope, withinBudget(result, scope, DISCOVER.name, request));
}

function runExecute(
  scope: Scope,
  args: Raw | undefined,
  meta: Raw | undefined,
  request: ClientRequest,
): Promise<Raw> {
  const result = execute(scope, { args, meta, executor: scope.code as Executor }, request);
  return errorsAsResults(scope, withinBudget(result, scope, EXECUTE.name, request));
}

function runProvision(
  scope: Scope,
  args: Raw | undefined,
  meta: Raw | undefined,
  request: ClientRequest,
): Promise<Raw> {
  const result = provision(scope, args, meta, request);
  return errorsAsResults(scope, withinBudget(result, scope, PROVISION.name, request));
}

/** Stores a result that is too large, and returns a short form of it. */
async function withinBudget(
  result: Promise<Raw>,
  scope: Scope,
  source: string,
  request: ClientRequest,
): Promise<Raw> {
  const whole = await result;
  const budget = scope.maxResultBytes() ?? DEFAULT_BUDGET;
  if (whole.length <= budget) return whole;
  const once = saidOnce(whole, source);
  return isWithin(once, budget) ? whole : shortResult(once, budgetOf(scope, source, request));
}

/** The text of our own tools says what their structured content says, so it does not count a second time. */
function saidOnce(whole: Raw, source: string): Raw {
  const [structured, content] = members(whole, ["structuredContent", "content"]);
  if (!isMetaTool(source) || !structured || !content) return whole;
  return withMember(whole, "content", joinArray(elements(content).filter(isMedia)));
}

const readCommand = (uri: string): string =>
  `mcp_call {server: "${OWN_SERVER}", tool: "${READ.name}", args: {uri: "${uri}"}}`;

function budgetOf(scope: Scope, source: string, { origin }: ClientRequest): Budget {
  return ownBudget(scope, source, origin, { readCommand, code: EXECUTE.name });
}

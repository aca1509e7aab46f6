/** Runs the tools of the meta surface. Loaded with the first request that needs it. */
import { joinArray } from "../../catalog/json-array.ts";
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import { callerOf } from "../../kernel/call.ts";
import { LARGE_BYTES, ownTurn } from "../../kernel/own-turn.ts";
import type { Raw } from "../../kernel/raw.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { elements, members, withMember } from "../../rpc/slice.ts";
import type { Executor } from "../../sandbox/executor.ts";
import { withPageOf } from "../app-call.ts";
import { builtinBudget } from "../builtin/builtin-budget.ts";
import { readsStored } from "../builtin/builtin-tool.ts";
import { READ } from "../builtin/tools.ts";
import { readParams } from "../call-params.ts";
import { callTool } from "../call-tool.ts";
import { asResult, executionFailed } from "../failure.ts";
import { readInput } from "../input.ts";
import { callOther, type Others } from "../other-call.ts";
import { passThrough } from "../pass-through.ts";
import { recorded, recordRefusal } from "../recorded.ts";
import { type Budget, DEFAULT_BUDGET, shortResult } from "../result/budget.ts";
import { isMedia, isWithin } from "../result/media.ts";
import { handleResources } from "../result/resources.ts";
import { restartNote, withText } from "../result/restart-note.ts";
import type { Scope, ScopeCalls, ScopeCatalog, ScopeFacts } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { type CallInput, readCall } from "./call-input.ts";
import { discover } from "./discover.ts";
import { execute } from "./execute.ts";
import { provision } from "./provision.ts";
import { CALL, DISCOVER, EXECUTE, isMetaTool, isOffered, PROVISION } from "./tools.ts";

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
}

const TOOLS: readonly MetaTool[] = [
  { definition: DISCOVER, run: runDiscover },
  { definition: PROVISION, run: runProvision },
  { definition: CALL, run: runCall },
  { definition: EXECUTE, run: runExecute },
];
const BY_NAME: ReadonlyMap<unknown, MetaTool> = new Map(TOOLS.map((tool) => [tool.definition.name, tool]));

/** Answers every request but `tools/list`. */
export function answer(scope: Scope, request: ClientRequest, others: Others): Promise<Raw> {
  if (request.method === "tools/call") return callMetaTool(scope, request, others);
  return handleResources(scope, request) ?? passThrough(scope, request);
}

function callMetaTool(scope: Scope, request: ClientRequest, others: Others): Promise<Raw> {
  const { name, args, meta } = readParams(request.params);
  const tool = BY_NAME.get(name);
  if (!tool || !isOffered(tool.definition, scope))
    return callOther(scope, request, others, () => offered(scope));
  const run = (inner: ClientRequest): Promise<Raw> => {
    try {
      return tool.run(scope, args, meta, inner);
    } catch (error) {
      return Promise.resolve(asResult(scope.log, error));
    }
  };
  // mcp_call is not recorded itself; the tool that it calls is.
  if (tool.definition === CALL) return run(request);
  return recorded(scope, { server: BUILTIN_SERVER, tool: tool.definition.name, args }, request, run);
}

function offered(scope: Scope): readonly string[] {
  return TOOLS.map(({ definition }) => definition)
    .filter((definition) => isOffered(definition, scope))
    .map(({ name }) => name);
}

function readOrRefuse(scope: ScopeCalls, args: Raw | undefined, request: ClientRequest): CallInput {
  try {
    return readCall(args);
  } catch (error) {
    recordRefusal(scope, { server: BUILTIN_SERVER, tool: CALL.name, args }, request, {
      code: "validation_input",
      error,
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
    (answered) => {
      const whole = withPageOf(scope, { server, tool }, answered, request);
      if (server !== BUILTIN_SERVER) scope.results.links.noteAll(callerOf(request.origin), server, whole);
      const note = restartNote(server, whole);
      const fits = isWithin(whole, scope.maxResultBytes() ?? DEFAULT_BUDGET);
      if (fits || readsStored(server, { tool, args: input.args })) return withText(whole, note);
      const short = shortened(whole, scope, `${server}:${tool}`, request);
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

function errorsAsResults(scope: ScopeFacts, result: Promise<Raw>): Promise<Raw> {
  return result.catch((error: unknown) => asResult(scope.log, error));
}

/** One entry may be larger than the budget: the schema of a single tool. */
function runDiscover(
  scope: ScopeCatalog & ScopeFacts,
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
  scope: ScopeCatalog & ScopeFacts,
  source: string,
  request: ClientRequest,
): Promise<Raw> {
  const whole = await result;
  const budget = scope.maxResultBytes() ?? DEFAULT_BUDGET;
  if (whole.length <= budget) return whole;
  const once = saidOnce(whole, source);
  return isWithin(once, budget) ? whole : await shortened(once, scope, source, request);
}

/** Shortens a result in a turn of its own: the walks that found it too large were enough for one. */
async function shortened(
  whole: Raw,
  scope: ScopeCatalog & ScopeFacts,
  source: string,
  request: ClientRequest,
): Promise<Raw> {
  if (whole.length >= LARGE_BYTES) await ownTurn();
  return shortResult(whole, budgetOf(scope, source, request));
}

/** The text of our own tools says what their structured content says, so it does not count a second time. */
function saidOnce(whole: Raw, source: string): Raw {
  const [structured, content] = members(whole, ["structuredContent", "content"]);
  if (!isMetaTool(source) || !structured || !content) return whole;
  return withMember(whole, "content", joinArray(elements(content).filter(isMedia)));
}

const readCommand = (uri: string): string =>
  `mcp_call {server: "${BUILTIN_SERVER}", tool: "${READ.name}", args: {uri: "${uri}"}}`;

function budgetOf(scope: ScopeCatalog & ScopeFacts, source: string, { origin }: ClientRequest): Budget {
  return builtinBudget(scope, source, origin, { readCommand, code: EXECUTE.name });
}

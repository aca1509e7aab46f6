/**
 * Explains what would happen to a call at an endpoint, and which rule decides. Makes, asks and counts
 * nothing.
 */
import { checkArguments, prepareCheck } from "../../catalog/check-arguments.ts";
import { repeatOf, type Tool } from "../../catalog/tool.ts";
import { mustAsk } from "../../config/glob.ts";
import type { Call, Origin } from "../../kernel/call.ts";
import { type ErrorCode, MetaMcpError } from "../../kernel/errors.ts";
import { EMPTY_OBJECT, toRaw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { type ExplainedStep, explainLayers } from "../../middleware/explain.ts";
import { hiddenBy } from "../../middleware/list-rules.ts";
import { member } from "../../rpc/slice.ts";
import { OWN_NAMES } from "../../surface/builtin/tools.ts";
import { OWN_TOOL_NAMES } from "../../surface/layered-requests.ts";
import type { Compiled } from "../compile.ts";
import type { ToolRow } from "../view/tool-row.ts";
import type { View } from "../view/views.ts";
import type { EndpointLayers } from "./endpoint-layers.ts";
import type { Explained, ExplainedTool } from "./explanation.ts";
import { serverFacts, toolFacts } from "./facts.ts";
import { ownCall } from "./own-call.ts";

export interface ExplainRequest {
  /** `server:tool`, with the name here or the server's own name, or the name on the aggregate surface. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The arguments are judged by the rules alone, not by the schema of the tool. */
  readonly unchecked?: boolean;
  /** The rows for the principal, as known at the moment. */
  readonly rows: () => readonly ToolRow[];
}

export interface ExplainSources {
  readonly compiled: Pick<Compiled, "servers">;
  readonly layers: EndpointLayers;
  /** The view of the endpoint without layers. */
  readonly view: View;
}

/**
 * Whether the tool is not listed, so that an explanation needs the lists of the servers first, as a call
 * would.
 */
export function isUnlisted(sources: ExplainSources, { tool, rows }: ExplainRequest): boolean {
  const row = rowNamed(sources, rows(), tool);
  return row ? row.missing === true : !isOwn(tool);
}

/**
 * The explanation of a call of an unlisted tool while these servers, which may have it, could not be listed.
 */
export function unknownTool(servers: readonly string[]): Explained {
  const steps = servers.map((server) => ({
    use: "name",
    at: `server "${server}"`,
    effect: "unknown" as const,
    reason: "not known yet: the server has not been listed",
  }));
  return { outcome: "unknown", steps };
}

export async function explainTool(
  sources: ExplainSources,
  { tool: reference, args, rows, unchecked = false }: ExplainRequest,
  origin: Origin,
): Promise<Explained> {
  const row = rowNamed(sources, rows(), reference);
  if (!row) return explainOwn(sources, reference, origin);
  const { compiled, layers } = sources;
  const { server: name } = serverFacts(row.server, compiled);
  const tool: ExplainedTool = { server: { uuid: row.server, name }, tool: row.tool, name: row.name };
  if (!row.enabled) return { ...refused("tool_not_found", hidingStep(sources, row, origin)), tool };
  const sent = await sentCall(sources, tool, callOf(tool, args, origin), unchecked);
  if ("step" in sent) return { ...refused(sent.code, sent.step), tool };
  const { steps, code, call, asks } = await explainLayers(layers.of(row.server), sent.call);
  if (code) return { outcome: "refused", code, tool, steps };
  if (!call) return { outcome: "answered", tool, steps };
  const rules = compiled.servers.get(row.server)?.spec?.tools;
  if (!rules || !mustAsk(rules, row.tool)) return { outcome: asks ? "asks" : "passes", tool, steps };
  const asked = { use: "ask", at: `server "${name}"`, effect: "ask", reason: "tools.ask names it" } as const;
  return { outcome: "asks", tool, steps: [...steps, asked] };
}

/** Finds a tool by its name here, else by its own name, else by its name on the aggregate surface. */
function rowNamed(
  { compiled, view }: ExplainSources,
  rows: readonly ToolRow[],
  reference: string,
): ToolRow | undefined {
  const listed = view.publicNames.get(reference);
  const serverOf = (row: ToolRow): string => serverFacts(row.server, compiled).server;
  const isCalled = (row: ToolRow, name: string): boolean => `${serverOf(row)}:${name}` === reference;
  return (
    rows.find((row) => row.enabled && isCalled(row, row.name)) ??
    rows.find((row) => isCalled(row, row.tool)) ??
    rows.find((row) => isCalled(row, row.name)) ??
    rows.find((row) => listed?.name === row.name && listed.server === serverOf(row))
  );
}

/** Explains a call of one of our own tools, which layers around requests may hide. */
function explainOwn({ layers }: ExplainSources, reference: string, { principal }: Origin): Explained {
  const name = ownName(reference);
  if (!isOwn(reference))
    return refused("tool_not_found", {
      use: "name",
      at: "the endpoint",
      effect: "deny",
      reason: "no tool of that name is known here",
    });
  const hiding = layers.requests.hidingBuiltin(name, principal);
  if (!hiding) return { outcome: "passes", steps: [] };
  return refused("tool_not_found", {
    use: hiding.use,
    at: hiding.at,
    effect: "deny",
    reason: "it matches this tool",
  });
}

function ownName(reference: string): string {
  return reference.replace(/^metamcp:/, "");
}

function isOwn(reference: string): boolean {
  const name = ownName(reference);
  return (name !== reference && OWN_NAMES.includes(name)) || OWN_TOOL_NAMES.includes(name);
}

/** What hides the tool: a layer, the namespace or the server. */
function hidingStep(
  { compiled, layers, view }: ExplainSources,
  row: ToolRow,
  { principal }: Origin,
): ExplainedStep {
  const target = view.resolve(serverFacts(row.server, compiled).server, row.name);
  const hidden = target && hiddenBy(layers.of(row.server), toolFacts(target, compiled), principal);
  if (hidden) return { ...hidden, effect: "deny" };
  return { use: "name", at: "the endpoint", effect: "deny", reason: row.because ?? "it is off" };
}

/** The call as its server would get it, or why the arguments are invalid. */
async function sentCall(
  { compiled, view }: ExplainSources,
  { server, name }: ExplainedTool,
  call: Call,
  unchecked: boolean,
): Promise<{ readonly call: Call } | { readonly step: ExplainedStep; readonly code: ErrorCode }> {
  try {
    if (!unchecked) await checkFit(view.tool(server.name, name), call);
    const { call: own, target } = ownCall(call, view);
    const facts = toolFacts(target, compiled);
    return { call: { ...own, facts, repeat: repeatOf(facts.annotations) } };
  } catch (error) {
    if (!MetaMcpError.is(error)) throw error;
    const step = {
      use: "arguments",
      at: `${server.name}:${name}`,
      effect: "deny",
      reason: error.message,
    } as const;
    return { step, code: error.code };
  }
}

async function checkFit(tool: Tool | undefined, { params }: Call): Promise<void> {
  if (!tool) return;
  await prepareCheck(tool);
  const args = member(params, "arguments") ?? EMPTY_OBJECT;
  const problems = checkArguments(tool, args) ?? [];
  if (problems.length > 0)
    throw new MetaMcpError("validation_input", problems.map(({ text }) => text).join("; "));
}

function callOf({ server, name }: ExplainedTool, args: ExplainRequest["args"], origin: Origin): Call {
  return {
    server: server.name,
    method: "tools/call",
    tool: name,
    params: toRaw({ name, arguments: args }),
    origin,
    signal: new CallSignal(),
    deadline: Number.POSITIVE_INFINITY,
    repeat: "unknown",
    uplink: origin.uplink,
  };
}

function refused(code: ErrorCode, step: ExplainedStep): Explained {
  return { outcome: "refused", code, steps: [step] };
}

/** run_tool: runs one tool. Returns its value as structured content, and images and files unchanged. */
import { MetaMcpError } from "../../kernel/errors.ts";
import { LARGE_BYTES, ownTurn } from "../../kernel/own-turn.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { isObject, isString, joinObject, members, textAt } from "../../rpc/slice.ts";
import { NEXT } from "../builtin/read.ts";
import type { Input } from "../input.ts";
import { notedPreview, PREVIEW_BYTES, shorten, withPreview } from "../result/budget.ts";
import { isWithin } from "../result/media.ts";
import { withText } from "../result/restart-note.ts";
import type { Scope, ScopeCatalog, ScopeFacts } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { answer, failure } from "./answer.ts";
import { budgetFor, budgetOf } from "./bounds.ts";
import { backendOf, definitionOf, execute, type StepOutcome } from "./execute.ts";
import { Progress } from "./progress.ts";
import { splitId, type ToolName } from "./tool-id.ts";

type Members = readonly (readonly [string, Raw | undefined])[];

const OP = "run_tool";
/** Larger members are left out beside a preview; describe_tool returns them. */
const LARGEST_EXTRA = 1_500;

export async function runTool(
  scope: Scope,
  input: Input,
  meta: Raw | undefined,
  request: ClientRequest,
): Promise<Raw> {
  refuseUnsupported(input);
  const name = splitId(fromRaw(input.get("tool_id") as Raw) as string);
  const args = input.get("args") ?? EMPTY_OBJECT;
  const progress = new Progress(request.uplink, meta);
  progress.report({ progress: 0, message: `${name.id} begins` });
  const uplink = progress.uplink((report, params) => progress.forward(report, params));
  const outcome = await execute(scope, { name, args, meta, op: OP }, { ...request, uplink });
  if (!progress.forwarded) progress.report({ progress: 1, total: 1, message: `${name.id} done` });

  const extras: Members = [
    ["tool", wants(input, "include_tool") ? definitionOf(scope, name, request.origin) : undefined],
    ["backend", wants(input, "include_backend") ? backendOf(name) : undefined],
    ["durationMs", toRaw(outcome.durationMs)],
  ];
  const { result } = outcome;
  // The walks that read it were enough for one turn.
  if (result && result.length >= LARGE_BYTES) await ownTurn();
  // A server may return something that is not an object; that is not a valid result.
  const whole = result && isObject(result) && wants(input, "include_mcp_result") ? result : undefined;
  const parts = { name, outcome, extras, whole };
  const told = outcome.error ? failed(scope, outcome.error, parts, request) : success(scope, parts, request);
  return withText(told, outcome.restarted);
}

function failed(
  scope: ScopeFacts,
  error: MetaMcpError,
  { outcome, extras, whole }: AnswerParts,
  { origin }: ClientRequest,
): Raw {
  const { short, blocks, meta, result } = outcome;
  const more = [...extras, ["mcpResult", ifWithinBudget(scope, whole)] as const];
  if (!short) return failure(origin, error, { more, blocks, meta });
  const { blocks: shown, mediaBytes } = short;
  const all = failure(origin, error, { blocks: shown, more, meta });
  if (!result || isWithin(result, budgetFor(scope)) || all.length - mediaBytes <= PREVIEW_BYTES) return all;
  return failure(origin, error, { blocks: shown, more: extras.filter(([key]) => key === "durationMs") });
}

function refuseUnsupported(input: Input): void {
  const tool_id = fromRaw(input.get("tool_id") as Raw) as string;
  if (wants(input, "stream"))
    throw new MetaMcpError(
      "stream_not_supported",
      "Streaming is not supported: leave stream out. Send a progress token to get progress.",
      { op: OP, tool_id },
    );
  if (input.has("backend_override"))
    throw new MetaMcpError(
      "backend_override_invalid",
      "The server in tool_id runs the tool: leave backend_override out.",
      { op: OP, tool_id },
    );
}

interface AnswerParts {
  readonly name: ToolName;
  readonly outcome: StepOutcome;
  readonly extras: Members;
  /** The result as written, if the client asked for it. */
  readonly whole: Raw | undefined;
}

function success(
  scope: ScopeCatalog & ScopeFacts,
  { name, outcome, extras, whole }: AnswerParts,
  { origin }: ClientRequest,
): Raw {
  const { value = toRaw(null), result = EMPTY_OBJECT, blocks = [], meta } = outcome;
  const written = [...extras, ["mcpResult", ifWithinBudget(scope, whole)] as const];
  if (outcome.page) {
    // A page of a stored result is returned only as text.
    const structured = joinObject([["structured", pageValue(meta)], ...written]);
    return answer(origin, { structured, text: textIn(value), blocks, meta });
  }
  if (isWithin(result, budgetFor(scope))) {
    const alone = written.filter(([, raw]) => raw).length === 1;
    const text = alone && isString(value) ? textIn(value) : undefined;
    return answer(origin, {
      structured: joinObject([["structured", value], ...written]),
      text,
      blocks,
      meta,
    });
  }
  const short = shorten(result, budgetOf(scope, name.id, origin), { value, blocks });
  const few = extras.filter(([, raw]) => raw && raw.length <= LARGEST_EXTRA);
  return withPreview(short, (shown) =>
    answer(origin, {
      structured: joinObject([["structured", shown], ...few]),
      text: notedPreview(short, shown),
      blocks: short.blocks,
    }),
  );
}

function textIn(value: Raw): string {
  return isString(value) ? textAt(value, 0) : "";
}

/** The URI of the next page, for programs. */
function pageValue(meta: Raw | undefined): Raw {
  const [next] = meta ? members(meta, [NEXT]) : [];
  return joinObject([["next", next]]);
}

/** Leaves out a result that is too large; the link leads to it. */
function ifWithinBudget(scope: ScopeFacts, result: Raw | undefined): Raw | undefined {
  return result && result.length <= budgetFor(scope) ? result : undefined;
}

function wants(input: Input, key: string): boolean {
  return input.get(key)?.toString() === "true";
}

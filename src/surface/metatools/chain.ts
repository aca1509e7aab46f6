/**
 * run_chain: runs several tools in one request; each can use values of earlier ones. Returns the result of
 * every step, and where the chain ended.
 */
import { joinArray } from "../../catalog/json-array.ts";
import { summarize } from "../../catalog/summary.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject, withMember } from "../../rpc/slice.ts";
import { errorObject, errorText } from "../failure.ts";
import { withoutSchema } from "../invalid-arguments.ts";
import { PREVIEW_BYTES, type Shortened, shorten } from "../result/budget.ts";
import { mediaBudget, mediaIn } from "../result/media.ts";
import { partsOf } from "../result/value.ts";
import type { Scope, ScopeCatalog, ScopeFacts } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { answer } from "./answer.ts";
import { budgetFor, budgetOf } from "./bounds.ts";
import { type ChainOutcome, ChainRun } from "./chain-run.ts";
import { dryRun } from "./dry-run.ts";
import { backendOf, definitionOf, type StepOutcome } from "./execute.ts";
import { type ChainPlan, planOf, type Step } from "./plan.ts";

const OP = "run_chain";
/** The whole message is in the cause. */
const LONGEST_MESSAGE = 160;
/** In bytes, for each step except the last, because there may be many. */
const SMALL_PREVIEW = 200;
/** In bytes. A result up to this size is returned whole: preview, note and link would be larger. */
const SMALL_RESULT = 800;
const NOT_STARTED: StepOutcome = {
  durationMs: 0,
  error: new MetaMcpError("cancelled", "Not started: an earlier step failed."),
};

type FinishedStep = readonly [Step, StepOutcome];

/** What is returned of one step. */
interface ShownStep {
  readonly value?: Raw | undefined;
  readonly error?: Raw | undefined;
  readonly blocks: readonly Raw[];
  readonly note?: string;
}

export async function runChain(
  scope: Scope,
  input: ReadonlyMap<string, Raw>,
  meta: Raw | undefined,
  request: ClientRequest,
): Promise<Raw> {
  const plan = planOf(input);
  const outcome = plan.dryRun
    ? await dryRun(scope, plan, request)
    : await new ChainRun(scope, plan, meta, request).run();
  return chainAnswer(scope, plan, outcome, request);
}

function chainAnswer(
  scope: ScopeCatalog & ScopeFacts,
  plan: ChainPlan,
  { outcomes, failedAt }: ChainOutcome,
  { origin }: ClientRequest,
): Raw {
  const ran = listed(plan, outcomes);
  const shown = withinBudget(scope, ran, origin);
  const results = ran.map((one, at) =>
    stepResult(
      plan,
      one,
      shown[at],
      plan.includeTools ? definitionOf(scope, one[0].name, origin) : undefined,
    ),
  );
  const final = failedAt === undefined && ran.length === plan.steps.length ? shown.at(-1)?.value : undefined;
  const end = ran.findIndex(([{ index }]) => index === failedAt);
  const failed = ran[end] && chainError(ran[end], shown[end]?.error);
  const notes = shown.flatMap(({ note }, at) =>
    note === undefined ? [] : [`Step ${ran[at]?.[0].index}: ${note}`],
  );
  return answer(origin, {
    structured: joinObject([
      ["results", joinArray(results)],
      ["final", final],
      ["error", failed?.object],
    ]),
    text: failed && `${failed.text}\n${joinObject([["results", joinArray(results)]]).toString()}`,
    note: noteOn(plan, [...notes, ...restarts(ran), ...failures(ran, failedAt)]),
    blocks: shown.flatMap(({ blocks }) => blocks),
    failed: failed !== undefined,
  });
}

/**
 * For a sequence, returns the steps that ran; a failed one is the last. In parallel, returns all steps, so
 * that each result has the index of its step.
 */
function listed(
  { steps, parallel, dryRun: dry }: ChainPlan,
  outcomes: ChainOutcome["outcomes"],
): readonly FinishedStep[] {
  return steps.flatMap((step): FinishedStep[] => {
    const outcome = outcomes[step.index];
    if (outcome) return [[step, outcome]];
    return parallel && !dry ? [[step, NOT_STARTED]] : [];
  });
}

function stepResult(
  plan: ChainPlan,
  [{ name }, { durationMs }]: FinishedStep,
  shown: ShownStep | undefined,
  tool: Raw | undefined,
): Raw {
  return joinObject([
    ["tool_id", toRaw(name.id)],
    ["structured", shown?.value],
    ["error", shown?.error],
    ["durationMs", toRaw(durationMs)],
    ["tool", tool],
    ["backend", plan.includeBackends ? backendOf(name) : undefined],
  ]);
}

/**
 * All steps share one budget, failed ones too. The last step uses it first, because its result is the purpose
 * of the chain.
 */
function withinBudget(
  scope: ScopeCatalog & ScopeFacts,
  ran: readonly FinishedStep[],
  origin: ClientRequest["origin"],
): readonly ShownStep[] {
  const last = ran.at(-1);
  const budget = budgetFor(scope);
  let left = budget;
  let leftForMedia = mediaBudget(budget);
  const explained = new Set<string>();
  const show = ([{ name }, outcome]: FinishedStep): ShownStep => {
    const { value, error: failed, result, blocks = [], page, short: stored } = outcome;
    const bare = failed && withoutSchema(failed);
    // If several steps use one tool, its schema is returned once.
    const reported = explained.has(name.id) ? bare : failed;
    const error = reported && errorWithin(stored ? 0 : left, reported);
    if (bare !== failed) explained.add(name.id);
    left -= error?.length ?? 0;
    if (stored) return { error, ...linked(stored) };
    if (!result || (error && blocks.length === 0)) return { value, error, blocks: [] };
    const media = mediaIn(blocks, budget, leftForMedia);
    const bytes = result.length - media.bytes;
    const small = bytes <= Math.min(budget, SMALL_RESULT);
    const room = leftForMedia;
    leftForMedia -= media.bytes;
    if (!media.cut && (small || bytes <= left || (page && result === last?.[1].result))) {
      left -= bytes;
      return { value, error, blocks };
    }
    const keep = budgetOf(scope, name.id, origin);
    if (!value) return { error, ...linked(shorten(result, keep, partsOf(result), room)) };
    const short = shorten(result, keep, { value, blocks }, room);
    // The value of the last step is returned as a result and as `final`, each also in the text, where quotes
    // are escaped and count twice.
    const linkBytes = short.blocks.reduce((sum, block) => sum + block.length, -short.mediaBytes);
    const others = short.note.length + linkBytes + 2 * name.id.length;
    const most = Math.floor((PREVIEW_BYTES - others) / 6) - 80;
    const shown = result === last?.[1].result ? most : Math.min(most, SMALL_PREVIEW);
    return { value: short.preview(shown), ...linked(short) };
  };
  if (!last) return [];
  const shownLast = show(last);
  return [...ran.slice(0, -1).map(show), shownLast];
}

function linked({ blocks, note }: Shortened): Pick<ShownStep, "blocks" | "note"> {
  return { blocks, note };
}

/** Shortens an error that does not fit, because many errors together can be as large as a large result. */
function errorWithin(room: number, error: MetaMcpError): Raw {
  const whole = errorObject(error);
  if (whole.length <= room) return whole;
  const { details: _, cause: __, ...context } = error.context;
  return errorObject(new MetaMcpError(error.code, summarize(error.message, LONGEST_MESSAGE), context));
}

/** `shown` is the error of the failed step in the results. */
function chainError(
  [step, { error: why }]: FinishedStep,
  shown: Raw | undefined,
): { object: Raw; text: string } {
  const { index, name } = step;
  const error = new MetaMcpError(
    "chain_step_failed",
    `Step ${index} (${name.id}) failed: ${summarize(why?.message ?? "", LONGEST_MESSAGE)}`,
    {
      op: OP,
      server: name.server,
      tool_id: name.id,
      step_index: index,
    },
  );
  const bare = why && withoutSchema(why);
  const cause = bare && shown && bare !== why ? errorWithin(shown.length, bare) : shown;
  const details = joinObject([["cause", cause]]);
  return {
    object: withMember(errorObject(error), "details", details),
    text: errorText(error),
  };
}

/** The note beside the results. */
function noteOn({ dryRun: dry }: ChainPlan, notes: readonly string[]): string | undefined {
  const all = dry && notes.length === 0 ? ["All steps are valid. Nothing was run."] : notes;
  return all.length > 0 ? all.join("\n") : undefined;
}

function restarts(ran: readonly FinishedStep[]): readonly string[] {
  return ran.flatMap(([{ index }, { restarted }]) =>
    restarted === undefined ? [] : [`Step ${index}: ${restarted}`],
  );
}

function failures(ran: readonly FinishedStep[], failedAt: number | undefined): readonly string[] {
  const bad = ran.filter(([, { error }]) => error).length;
  return bad > 0 && failedAt === undefined ? [`${bad} of ${ran.length} steps failed: see results.`] : [];
}

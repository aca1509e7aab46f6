/** execute_code: runs code that can call many tools. Returns its value and its output. */
import { joinArray } from "../../catalog/json-array.ts";
import { summarize } from "../../catalog/summary.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject } from "../../rpc/slice.ts";
import type { Executor, LogLine, Outcome } from "../../sandbox/executor.ts";
import { shownCalls } from "../code/call-records.ts";
import { errorOf, shownValue } from "../code/outcome.ts";
import { runCode } from "../code/run-code.ts";
import { errorObject, errorText } from "../failure.ts";
import type { Input } from "../input.ts";
import { shorten, withPreview } from "../result/budget.ts";
import { bytesOf, startOf } from "../result/json-text.ts";
import type { Scope, ScopeCatalog, ScopeFacts } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { answer } from "./answer.ts";
import { budgetFor, budgetOf } from "./bounds.ts";
import { Progress } from "./progress.ts";
import { EXECUTE_CODE } from "./tools.ts";

/** Longest output and error message in a preview, in bytes as JSON. */
const LONGEST_TEXT = 400;
const CALLS_SHOWN = 3;

export async function executeCode(
  scope: Scope,
  input: Input,
  meta: Raw | undefined,
  request: ClientRequest,
): Promise<Raw> {
  const code = fromRaw(input.get("code") as Raw) as string;
  const timeoutMs = numberIn(input, "timeout_ms");
  const mostCalls = numberIn(input, "max_tool_calls");
  const limits = {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(mostCalls !== undefined && { mostCalls }),
  };
  const progress = new Progress(request.uplink, meta);
  progress.report({ progress: 0, message: "starting the code" });
  const uplink = progress.uplink((report, params) => progress.forward(report, params));
  const job = { code, meta, finder: "search_tools", ...limits };
  const outcome = await runCode(scope, scope.code as Executor, job, { ...request, uplink });
  if (!progress.forwarded) progress.report({ progress: 1, total: 1, message: "done" });
  return codeAnswer(scope, outcome, errorOf(outcome, code, EXECUTE_CODE.name), request);
}

function numberIn(input: Input, key: string): number | undefined {
  const raw = input.get(key);
  return raw && (fromRaw(raw) as number);
}

/** The members beside `value` and `error`. */
function otherMembers({ logs, durationMs, calls, unsafe }: Outcome) {
  const isError = ({ level }: LogLine): boolean => level === "warn" || level === "error";
  const textOf = (lines: readonly LogLine[]): Raw => toRaw(lines.map(({ text }) => `${text}\n`).join(""));
  return [
    ["stdout", textOf(logs.filter((line) => !isError(line)))],
    ["stderr", textOf(logs.filter(isError))],
    ["durationMs", toRaw(Math.round(durationMs * 1_000) / 1_000)],
    ["calls", toRaw(shownCalls(calls))],
    ["unsafe", unsafe ? toRaw(true) : undefined],
  ] as const;
}

function codeAnswer(
  scope: ScopeCatalog & ScopeFacts,
  outcome: Outcome,
  error: MetaMcpError | undefined,
  { origin }: ClientRequest,
): Raw {
  const { value, media } = shownValue(outcome);
  const structured = joinObject([
    ["error", error && errorObject(error)],
    ["value", value],
    ...otherMembers(outcome),
  ]);
  const message = error && errorText(error);
  const failed = error !== undefined;
  if (structured.length <= budgetFor(scope)) {
    const text = message && `${message}\n${joinObject(otherMembers(outcome)).toString()}`;
    return answer(origin, { structured, text, note: unsafeNote(outcome), blocks: media, failed });
  }

  const whole = joinObject([
    ["content", joinArray(media)],
    ["structuredContent", structured],
  ]);
  const parts = { value: value ?? toRaw(null), blocks: media };
  const short = shorten(whole, budgetOf(scope, EXECUTE_CODE.name, origin), parts);
  const others = otherMembers(shortOf(outcome));
  const why =
    error &&
    new MetaMcpError(
      error.code,
      startOf(summarize(error.message, LONGEST_TEXT), LONGEST_TEXT),
      error.context,
    );
  return withPreview(short, (shown) =>
    answer(origin, {
      structured: joinObject([["error", why && errorObject(why)], ["value", value && shown], ...others]),
      text: [why && errorText(why), short.note, joinObject([["value", value && shown], ...others]).toString()]
        .filter((part) => part !== undefined)
        .join("\n"),
      note: unsafeNote(outcome),
      blocks: short.blocks,
      failed,
    }),
  );
}

function unsafeNote({ unsafe }: Outcome): string | undefined {
  return unsafe ? "UNSAFE: the code ran as a plain process." : undefined;
}

/** Keeps the first part of the logs and the first calls. */
function shortOf(outcome: Outcome): Outcome {
  let room = LONGEST_TEXT;
  const logs = outcome.logs.flatMap(({ level, text }): LogLine[] => {
    if (room <= 0) return [];
    const start = startOf(text, room);
    room -= bytesOf(`${start}\n`);
    return [{ level, text: start === text ? text : `${start}…` }];
  });
  return { ...outcome, logs, calls: outcome.calls.slice(0, CALLS_SHOWN) };
}

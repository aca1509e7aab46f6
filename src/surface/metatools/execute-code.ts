/** execute_code: code that calls many tools, its value, and what it printed. */
import { asRaw, EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject } from "../../rpc/slice.ts";
import type { Executor, LogLine, Outcome } from "../../sandbox/executor.ts";
import { errorOf } from "../code/outcome.ts";
import { runCode } from "../code/run-code.ts";
import type { ClientRequest } from "../face.ts";
import { PREVIEW_BYTES, shorten } from "../result/budget.ts";
import type { Scope } from "../scope.ts";
import { answer, failure } from "./answer.ts";
import { budgetFor, budgetOf } from "./bounds.ts";
import { Progress } from "./progress.ts";
import { EXECUTE_CODE } from "./tools.ts";

type Input = ReadonlyMap<string, Raw>;

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
  new Progress(request.uplink, meta).report({ progress: 0, message: "the code begins" });
  const job = { code, meta, finder: "search_tools", ...limits };
  const outcome = await runCode(scope, scope.code as Executor, job, request);
  const error = errorOf(outcome, code, EXECUTE_CODE.name);
  if (error) return failure(request.origin, error, { more: besideOf(outcome) });
  return succeeded(scope, outcome, request);
}

function numberIn(input: Input, key: string): number | undefined {
  const raw = input.get(key);
  return raw && (fromRaw(raw) as number);
}

function besideOf({ logs, durationMs, calls, unsafe }: Outcome) {
  const isError = ({ level }: LogLine): boolean => level === "warn" || level === "error";
  const textOf = (lines: readonly LogLine[]): Raw => toRaw(lines.map(({ text }) => `${text}\n`).join(""));
  return [
    ["stdout", textOf(logs.filter((line) => !isError(line)))],
    ["stderr", textOf(logs.filter(isError))],
    ["durationMs", toRaw(Math.round(durationMs * 1_000) / 1_000)],
    ["calls", toRaw(calls)],
    ["unsafe", unsafe ? toRaw(true) : undefined],
  ] as const;
}

function succeeded(scope: Scope, outcome: Outcome, { origin }: ClientRequest): Raw {
  const value = outcome.value === undefined ? undefined : asRaw(Buffer.from(outcome.value));
  const structured = joinObject([["value", value], ...besideOf(outcome)]);
  const text = outcome.unsafe ? "UNSAFE: the code ran as a plain process. It is done." : "The code is done.";
  if (structured.length <= budgetFor(scope)) return answer(origin, { structured, text });
  const whole = joinObject([
    ["content", toRaw([])],
    ["structuredContent", structured],
  ]);
  const { note, link, preview } = shorten(whole, budgetOf(scope, EXECUTE_CODE.name, origin));
  const short = besideOf({ ...outcome, logs: [], calls: [] });
  const write = (shown: Raw): Raw =>
    answer(origin, {
      structured: joinObject([["value", shown], ...short]),
      text: note,
      blocks: link ? [link] : [],
    });
  return write(preview(Math.max(PREVIEW_BYTES - write(EMPTY_OBJECT).length, 0)));
}

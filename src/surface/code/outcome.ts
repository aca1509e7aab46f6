/** Converts the outcome of code to a tool result: logs, then the value, or the error and the calls made before it. */
import { joinArray } from "../../catalog/json-array.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { joinObject } from "../../rpc/slice.ts";
import type { LogLine, Outcome } from "../../sandbox/executor.ts";
import { errorText } from "../failure.ts";
import { callsText, shownCalls } from "./call-records.ts";
import { hintFor } from "./hint.ts";
import { splitMedia } from "./value-media.ts";

const UNSAFE =
  "UNSAFE: the code ran as a plain process with all permissions of its user (METAMCP_RUNTIME_PROFILE=dev).";

export function errorOf({ error }: Outcome, code: string, op: string): MetaMcpError | undefined {
  if (!error) return undefined;
  const { name, line, limit } = error;
  const source = line === undefined ? undefined : code.split("\n")[line - 1]?.trim().slice(0, 200);
  const hint = hintFor({ message: error.message, source: source ?? "" }, code);
  const fact = source ? `${error.message.replace(/\.$/, "")}: ${source}` : error.message;
  const message = hint === undefined ? fact : `${fact}\n${hint}`;
  const details = { ...(name && { name }), ...(line !== undefined && { line }), ...(limit && { limit }) };
  return new MetaMcpError(error.code, message, { op, ...(Object.keys(details).length > 0 && { details }) });
}

export function resultOf(outcome: Outcome, code: string, op: string): Raw {
  const error = errorOf(outcome, code, op);
  const { logs, calls, durationMs, unsafe, backend } = outcome;
  const { value, media } = shownValue(outcome);
  const shown = error ? errorText(error) : (value?.toString() ?? "");
  const note = calls.length > 0 && error ? `Calls made before the error: ${callsText(calls)}` : "";
  const parts = [unsafe ? UNSAFE : "", ...logs.map(logLine), shown, note].filter((part) => part !== "");
  const text = parts.length > 0 ? parts.join("\n") : "The code ended without a value.";
  const structured = joinObject([
    ["value", value],
    ["error", error && toRaw(error)],
    ["logs", toRaw(logs)],
    ["calls", toRaw(shownCalls(calls))],
    ["durationMs", toRaw(Math.round(durationMs * 10) / 10)],
    ["unsafe", unsafe ? toRaw(true) : undefined],
    ["backend", backend === "wasm" ? undefined : toRaw(backend)],
  ]);
  return joinObject([
    ["content", joinArray([toRaw({ type: "text", text }), ...media])],
    ["structuredContent", structured],
    ["isError", error && toRaw(true)],
  ]);
}

/** The value without the images and audio that are shown beside it. */
export function shownValue({ value }: Outcome): { readonly value?: Raw; readonly media: readonly Raw[] } {
  return value === undefined ? { media: [] } : splitMedia(asRaw(Buffer.from(value)));
}

function logLine({ level, text }: LogLine): string {
  return level === "warn" || level === "error" ? `[${level}] ${text}` : text;
}

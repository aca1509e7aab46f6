/**
 * Converts the outcome of code to a tool result: logs, then the value, or the error and the calls made before
 * it.
 */
import { joinArray } from "../../catalog/json-array.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { elements, isArray, isObject, joinObject, member, withMember } from "../../rpc/slice.ts";
import type { LogLine, Outcome } from "../../sandbox/executor.ts";
import { errorText } from "../failure.ts";
import { isMedia } from "../result/media.ts";
import { callsText, shownCalls } from "./call-records.ts";
import { hintFor } from "./hint.ts";

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

/**
 * Images and audio in the value of code: content blocks, lists of them, and results of tools that contain
 * them. They become content of the answer, and the value keeps a remark in their place, because no model can
 * read base64.
 */
interface ValueMedia {
  readonly value: Raw;
  readonly media: readonly Raw[];
}

function splitMedia(value: Raw): ValueMedia {
  if (isMedia(value)) return { value: withoutData(value), media: [value] };
  if (isArray(value)) return splitList(value);
  const content = isObject(value) ? member(value, "content") : undefined;
  if (!content || !isArray(content)) return { value, media: [] };
  const { value: rest, media } = splitList(content);
  return media.length === 0 ? { value, media } : { value: withMember(value, "content", rest), media };
}

function splitList(list: Raw): ValueMedia {
  const all = elements(list);
  const media = all.filter(isMedia);
  if (media.length === 0) return { value: list, media };
  return { value: joinArray(all.map((one) => (isMedia(one) ? withoutData(one) : one))), media };
}

function withoutData(block: Raw): Raw {
  const bytes = (member(block, "data")?.length ?? 2) - 2;
  return withMember(block, "data", toRaw(`(${bytes.toLocaleString("en")} bytes, shown as content)`));
}

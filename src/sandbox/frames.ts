/**
 * The protocol between gateway and sandbox host: one JSON object (frame) per line. Frames of the host are
 * checked as if the untrusted code had written them.
 */
import type { LimitName, Limits, LogLine, ToolNames } from "./executor.ts";

/** Limit of one frame, in bytes. */
export const LONGEST_LINE = 8 << 20;
const LONGEST_NAME = 1_024;
export const LONGEST_MESSAGE = 16 << 10;
const LEVELS: readonly string[] = ["log", "info", "debug", "warn", "error"];

export type ToHost =
  | { readonly type: "init"; readonly limits: Limits; readonly spare: number }
  | {
      readonly type: "exec";
      readonly id: number;
      readonly code: string;
      readonly servers: readonly string[];
      readonly tools?: ToolNames | undefined;
      readonly limits: Limits;
    }
  | { readonly type: "cancel"; readonly id: number }
  /** Pauses the time limits of this run while a person or a model is asked. */
  | { readonly type: "hold"; readonly id: number; readonly held: boolean };

export interface RunFault {
  readonly name: string;
  readonly message: string;
  readonly line?: number;
  readonly limit?: LimitName;
}

export type FromHost =
  | { readonly type: "ready" }
  /** `id`: the run that has been computing since the last heartbeat. */
  | { readonly type: "heartbeat"; readonly id?: number }
  | {
      readonly type: "call";
      readonly id: number;
      readonly callId: number;
      readonly server: string;
      readonly tool: string;
      /** A JSON text as a string, so that its content cannot become part of the frame. */
      readonly args: string;
    }
  | { readonly type: "log"; readonly id: number; readonly level: LogLine["level"]; readonly text: string }
  | {
      readonly type: "progress";
      readonly id: number;
      readonly done: number;
      readonly total?: number;
      readonly message?: string;
    }
  | { readonly type: "done"; readonly id: number; readonly value?: string }
  | ({ readonly type: "fail"; readonly id: number } & RunFault);

/** The frames of one run. */
export type RunFrame = Exclude<FromHost, { type: "ready" | "heartbeat" }>;

export function writeFrame(frame: ToHost | FromHost): string {
  return `${JSON.stringify(frame)}\n`;
}

/** The result of a call. `value` is inserted unchanged and must be one line of JSON. */
export function writeResult(id: number, callId: number, value: string): string {
  return `{"type":"result","id":${id},"callId":${callId},"ok":true,"value":${value}}\n`;
}

export function writeRefusal(
  id: number,
  callId: number,
  error: { name: string; message: string; code: string; limit?: LimitName | undefined },
): string {
  return `{"type":"result","id":${id},"callId":${callId},"ok":false,"value":${JSON.stringify(error)}}\n`;
}

export interface ResultFrame {
  readonly type: "result";
  readonly id: number;
  readonly callId: number;
  readonly ok: boolean;
  /** JSON. */
  readonly value: string;
}

const RESULT = /^\{"type":"result","id":(\d+),"callId":(\d+),"ok":(true|false),"value":/;

/** Reads a frame in the host. The gateway is trusted, so the value of a result stays unparsed. */
export function readFromGateway(line: string): ToHost | ResultFrame {
  const head = RESULT.exec(line);
  if (!head) return JSON.parse(line) as ToHost;
  const [whole, id, callId, ok] = head;
  const value = line.slice(whole.length, -1);
  return { type: "result", id: Number(id), callId: Number(callId), ok: ok === "true", value };
}

/** Reads and checks a frame in the gateway. Undefined if it is invalid. */
export function readFromHost(line: string): FromHost | undefined {
  const frame = parse(line);
  if (!frame) return undefined;
  switch (frame["type"]) {
    case "ready":
      return { type: "ready" };
    case "heartbeat":
      return isId(frame["id"]) ? { type: "heartbeat", id: frame["id"] } : { type: "heartbeat" };
    case "call":
      return readCall(frame);
    case "log":
      return readLog(frame);
    case "progress":
      return readProgress(frame);
    case "done":
      return readDone(frame);
    case "fail":
      return readFail(frame);
    default:
      return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function parse(line: string): Fields | undefined {
  try {
    const frame: unknown = JSON.parse(line);
    return typeof frame === "object" && frame !== null ? (frame as Fields) : undefined;
  } catch {
    return undefined;
  }
}

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === "string" && value.length <= maxLength;

function readCall({ id, callId, server, tool, args }: Fields): FromHost | undefined {
  const fits =
    isId(id) &&
    isId(callId) &&
    isText(server, LONGEST_NAME) &&
    isText(tool, LONGEST_NAME) &&
    isText(args, LONGEST_LINE);
  return fits ? { type: "call", id, callId, server, tool, args } : undefined;
}

function readLog({ id, level, text }: Fields): FromHost | undefined {
  if (!isId(id) || !isText(text, LONGEST_LINE) || !LEVELS.includes(level as string)) return undefined;
  return { type: "log", id, level: level as LogLine["level"], text };
}

function readProgress({ id, done, total, message }: Fields): FromHost | undefined {
  if (!isId(id) || !Number.isFinite(done)) return undefined;
  return {
    type: "progress",
    id,
    done: done as number,
    ...(Number.isFinite(total) && { total: total as number }),
    ...(isText(message, LONGEST_MESSAGE) && { message }),
  };
}

function readDone({ id, value }: Fields): FromHost | undefined {
  if (!isId(id) || (value !== undefined && !isText(value, LONGEST_LINE))) return undefined;
  return { type: "done", id, ...(value !== undefined && { value }) };
}

function readFail({ id, name, message, line, limit }: Fields): FromHost | undefined {
  if (!isId(id) || !isText(name, LONGEST_NAME) || !isText(message, LONGEST_LINE)) return undefined;
  return {
    type: "fail",
    id,
    name,
    message: message.slice(0, LONGEST_MESSAGE),
    ...(isId(line) && { line }),
    ...(isText(limit, LONGEST_NAME) && { limit: limit as LimitName }),
  };
}

/** Splits a stream into lines. After a line over the limit it calls `tooLong` once and then nothing more. */
export class FrameReader {
  #parts: Buffer[] = [];
  #length = 0;
  #broken = false;
  readonly #onLine: (line: string) => void;
  readonly #tooLong: () => void;

  constructor(onLine: (line: string) => void, tooLong: () => void) {
    this.#onLine = onLine;
    this.#tooLong = tooLong;
  }

  push(chunk: Buffer): void {
    let from = 0;
    while (!this.#broken) {
      const end = chunk.indexOf(10, from);
      const part = chunk.subarray(from, end < 0 ? undefined : end);
      this.#length += part.length;
      if (this.#length > LONGEST_LINE) {
        this.#broken = true;
        this.#parts = [];
        this.#tooLong();
        return;
      }
      if (end < 0) {
        if (part.length > 0) this.#parts.push(part);
        return;
      }
      const line = this.#parts.length > 0 ? Buffer.concat([...this.#parts, part]) : part;
      this.#parts = [];
      this.#length = 0;
      from = end + 1;
      this.#onLine(line.toString());
    }
  }
}

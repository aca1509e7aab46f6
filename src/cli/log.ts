/** The log people read: stderr or a file, never stdout. Plain lines on a terminal, JSON elsewhere. */
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import type { Log, LogFields, LogLevel } from "../kernel/log.ts";
import { wrap } from "./wrap.ts";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** A log that nobody reads does not grow in memory beyond this. */
const BACKLOG_BYTES = 1024 * 1024;

export interface LogOptions {
  readonly level: LogLevel;
  readonly file: string | undefined;
}

export function createLog({ level, file }: LogOptions): Log {
  let to: Writable = process.stderr;
  // Nobody reads the log any more: that is no reason to stop serving.
  to.on("error", () => {});
  if (file !== undefined) {
    to = createWriteStream(file, { flags: "a", mode: 0o600 });
    to.on("error", (error) => {
      to = process.stderr;
      to.write(`metamcp: cannot write the log file, so the log goes to stderr: ${error.message}\n`);
    });
  }
  const least = LEVELS.indexOf(level);
  let lost = 0;
  const write = (of: LogLevel, message: string, fields?: LogFields): void => {
    const plain = to === process.stderr && process.stderr.isTTY;
    const line = plain
      ? wrap(`metamcp ${of}: ${message}`, process.stderr.columns, 2)
      : asJson(of, message, fields);
    to.write(`${line}\n`);
  };
  const at = (of: LogLevel) => (message: string, fields?: LogFields) => {
    if (LEVELS.indexOf(of) < least) return;
    if (to.writableLength > BACKLOG_BYTES) {
      lost += 1;
      return;
    }
    if (lost > 0) write("warn", `${lost} lines of this log were dropped because nobody read it`);
    lost = 0;
    write(of, message, fields);
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function asJson(level: LogLevel, message: string, fields: LogFields | undefined): string {
  return JSON.stringify(
    { time: new Date().toISOString(), level, message, ...fields },
    (_key, value: unknown) => (value instanceof Error ? value.message : value),
  );
}

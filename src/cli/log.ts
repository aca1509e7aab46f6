/** The log: to stderr or a file, never to stdout. Plain lines at a terminal, else JSON. */
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import type { Log, LogFields, LogLevel } from "../kernel/log.ts";
import { shown, shownJson } from "./print.ts";
import { wrap } from "./wrap.ts";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** Limit of unread log output in memory. */
const BACKLOG_BYTES = 1024 * 1024;

export interface LogOptions {
  readonly level: LogLevel;
  readonly file: string | undefined;
}

export function createLog({ level: configuredLevel, file }: LogOptions): Log {
  let output: Writable = process.stderr;
  // A closed stderr must not end the process.
  output.on("error", () => {});
  if (file !== undefined) {
    output = createWriteStream(file, { flags: "a", mode: 0o600 });
    output.on("error", (error) => {
      output = process.stderr;
      output.write(`metamcp: cannot write the log file, so the log goes to stderr: ${error.message}\n`);
    });
  }
  const minLevel = LEVELS.indexOf(configuredLevel);
  let dropped = 0;
  const write = (level: LogLevel, message: string, fields?: LogFields): void => {
    const plain = output === process.stderr && process.stderr.isTTY;
    const line = plain ? asText(level, message, process.stderr.columns) : asJson(level, message, fields);
    output.write(`${line}\n`);
  };
  const logAt = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (LEVELS.indexOf(level) < minLevel) return;
    if (output.writableLength > BACKLOG_BYTES) {
      dropped += 1;
      return;
    }
    if (dropped > 0) write("warn", `${dropped} lines of this log were dropped because nobody read it`);
    dropped = 0;
    write(level, message, fields);
  };
  return { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}

/** Messages contain texts of servers. Further lines are indented, so that none looks like a line of the log. */
export function asText(level: LogLevel, message: string, columns: number | undefined): string {
  const text = shown(message).replaceAll("\n", "\n  ");
  return wrap(`metamcp ${level}: ${text}`, columns, 2);
}

/** JSON leaves some characters in strings as they are that a terminal acts on, and log files are read at terminals. */
function asJson(level: LogLevel, message: string, fields: LogFields | undefined): string {
  return shownJson(
    JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }, (_key, value: unknown) =>
      value instanceof Error ? value.message : value,
    ),
  );
}

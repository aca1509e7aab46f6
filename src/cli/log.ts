/** The log people read: stderr or a file, never stdout. Plain lines on a terminal, JSON elsewhere. */
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import type { Log, LogFields, LogLevel } from "../kernel/log.ts";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export interface LogOptions {
  readonly level: LogLevel;
  readonly file: string | undefined;
}

export function createLog({ level, file }: LogOptions): Log {
  const to: Writable =
    file === undefined ? process.stderr : createWriteStream(file, { flags: "a", mode: 0o600 });
  // Nobody reads the log any more: that is no reason to stop serving.
  to.on("error", () => {});
  const plain = file === undefined && process.stderr.isTTY;
  const least = LEVELS.indexOf(level);
  const at = (of: LogLevel) => (message: string, fields?: LogFields) => {
    if (LEVELS.indexOf(of) < least) return;
    to.write(`${plain ? `metamcp ${of}: ${message}` : asJson(of, message, fields)}\n`);
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function asJson(level: LogLevel, message: string, fields: LogFields | undefined): string {
  return JSON.stringify(
    { time: new Date().toISOString(), level, message, ...fields },
    (_key, value: unknown) => (value instanceof Error ? value.message : value),
  );
}
